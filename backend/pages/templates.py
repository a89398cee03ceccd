"""The template environment: texts, glossary and addresses of static files, composed once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.staticfiles import StaticFiles

from backend.pages.glossary import Glossary
from backend.pages.texts import Texts

ROOT = Path(__file__).resolve().parents[2]
FRONTEND = ROOT / "frontend"
GLOSSARY = ROOT / "docs" / "glossary.md"
_NOBODY = "'none'"
_MILLISECONDS = 1000
_HOUR_MINUTES = 60
_DAY_MINUTES = 24 * 60
FEEDBACK_REASONS = (
    "wrong",
    "incomplete",
    "wrong_citation",
    "should_have_answered",
    "should_have_refused",
)


def policy(framed_by: Iterable[str] = ()) -> str:
    """Return the content security policy of a page.

    Args:
        framed_by: Origins whose pages may show it in a frame.
    """
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; "
        f"frame-ancestors {' '.join(framed_by) or _NOBODY}"
    )


HEADERS = {
    "content-security-policy": policy(),
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "vary": "accept",
}

_BLOCK_BYTES = 4096


class Templates:
    """Renders the pages.

    Args:
        frontend: Folder with ``templates``, ``static`` and ``texts.yaml``.
        glossary: The page that explains the terms.
    """

    def __init__(self, frontend: Path = FRONTEND, glossary: Path = GLOSSARY) -> None:
        self.texts = Texts.load(frontend / "texts.yaml")
        self.glossary = Glossary.load(glossary)
        self.static = StaticFiles(directory=frontend / "static")
        self._digests = _digest(frontend / "static")
        self._environment = Environment(
            loader=FileSystemLoader(frontend / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        shared: dict[str, object] = {
            "t": self.texts,
            "glossary": self.glossary,
            "asset": self.asset,
            "feedback_reasons": FEEDBACK_REASONS,
            "has_htmx": (frontend / "static" / "vendor" / "htmx.min.js").is_file(),
        }
        self._environment.globals.update(cast("dict[str, type]", shared))
        # The engine types its filters by those it brings along.
        cast("dict[str, object]", self._environment.filters)["age"] = self._tell_age
        self._environment.filters.update(
            number=format_number,
            duration=format_duration,
            moment=format_moment,
            degraded_name=self._name_degraded,
            share=format_share,
        )

    def asset(self, name: str) -> str:
        """Return the address of a static file; it changes when the file does."""
        return f"/static/{name}?v={self._digests.get(name, '0')}"

    def _name_degraded(self, name: str) -> str:
        return self.texts.either(f"degraded.names.{name}", name)

    def _tell_age(self, moment: datetime | str, now: datetime) -> str:
        """Return how long ago something was, in its largest unit."""
        parsed = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
        minutes = max(int((now - parsed).total_seconds() // 60), 0)
        if minutes < _HOUR_MINUTES:
            return self.texts("quality.ages.minutes", count=minutes)
        if minutes < 2 * _DAY_MINUTES:
            return self.texts("quality.ages.hours", count=minutes // _HOUR_MINUTES)
        return self.texts("quality.ages.days", count=minutes // _DAY_MINUTES)

    def render(self, name: str, **fields: object) -> str:
        """Return a template filled in."""
        return self._environment.get_template(name).render(**fields)

    def respond(
        self,
        name: str,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        **fields: object,
    ) -> HTMLResponse:
        """Return a page with the headers that every page has."""
        return HTMLResponse(
            in_whole_blocks(self.render(name, **fields)),
            status_code=status,
            headers={**HEADERS, **(headers or {})},
        )


def in_whole_blocks(html: str) -> str:
    """Return a page filled up with line ends to a whole number of 4,096 byte blocks.

    A command line client hands a page on in whole blocks and keeps the rest back for a second
    write. Whoever reads from it and stops at the first match (``curl ... | grep -q``) then makes
    that second write fail, now and then, on a page that was served in full.
    """
    return html + "\n" * (-len(html.encode()) % _BLOCK_BYTES)


def format_number(number: float | None, digits: int = 3) -> str:
    """Return a number to a fixed count of decimals; a dash when there is none."""
    return "–" if number is None else f"{number:.{digits}f}"


def format_share(share: float | None) -> str:
    """Return a share of countable things as a percentage; a dash when there are none."""
    return "–" if share is None else f"{share:.1%}".replace(".0%", "%")


def format_duration(milliseconds: float) -> str:
    """Return a duration with its unit, in seconds from one second on."""
    if milliseconds < _MILLISECONDS:
        return f"{milliseconds:.0f} ms"
    return f"{milliseconds / _MILLISECONDS:.1f} s"


def format_moment(moment: datetime | str) -> str:
    """Return a time to the minute, in UTC and saying so."""
    parsed = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    return parsed.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def _digest(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()[:12]
        for path in folder.rglob("*")
        if path.is_file()
    }
