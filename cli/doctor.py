"""``vouch doctor``: what is configured, reachable and matching, and what to do when it is not."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

import httpx
from rich.markup import escape

from cli.console import out, print_json
from service.health import HealthDocument

State = Literal["ok", "note", "fail"]
_DEADLINE_SECONDS = 4.0
_MARKS: dict[State, str] = {
    "ok": "[green]ok  [/green]",
    "note": "[yellow]note[/yellow]",
    "fail": "[red]FAIL[/red]",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found.

    Attributes:
        remedy: What to do; empty when there is nothing to do.
    """

    name: str
    state: State
    detail: str
    remedy: str = ""


Check = Callable[[], Awaitable[Finding]]


async def fetch_health(url: str) -> HealthDocument:
    """Return the health document of a process.

    Raises:
        httpx.HTTPError: Nothing answers, or an error status.
        ValueError: Something else than JSON answers.
    """
    async with httpx.AsyncClient(timeout=_DEADLINE_SECONDS, trust_env=False) as client:
        response = await client.get(f"{url}/healthz")
        response.raise_for_status()
        return HealthDocument.model_validate(response.json())


async def examine(checks: list[Check]) -> list[Finding]:
    """Run the checks side by side, in the order given."""
    return list(await asyncio.gather(*(check() for check in checks)))


def report(findings: list[Finding], *, as_json: bool) -> bool:
    """Print the findings; return whether nothing failed."""
    if as_json:
        print_json(
            {
                "findings": [
                    {"name": f.name, "state": f.state, "detail": f.detail, "remedy": f.remedy}
                    for f in findings
                ]
            }
        )
    else:
        for finding in findings:
            out.print(f"{_MARKS[finding.state]} {escape(finding.name)}: {escape(finding.detail)}")
            if finding.remedy:
                out.print(f"     {escape(finding.remedy)}")
    return all(finding.state != "fail" for finding in findings)
