"""Where a call says it comes from: the agent platform and the run, by headers."""

from __future__ import annotations

import re
from contextvars import ContextVar
from dataclasses import dataclass

from starlette.datastructures import Headers

from mcp_server.auth import current_caller

PLATFORM_HEADER = "X-Vouch-Agent-Platform"
TRACE_HEADER = "X-Vouch-Trace-Id"
UNKNOWN_PLATFORM = "unknown"

_NAME = re.compile(r"[A-Za-z0-9._:-]{1,100}")


@dataclass(frozen=True, slots=True)
class Origin:
    """What a caller says of itself, for logs and for the budget of its run; never for access.

    Attributes:
        platform: The agent platform.
        run: The caller's trace, empty for none.
    """

    platform: str = UNKNOWN_PLATFORM
    run: str = ""


_UNSAID = Origin()
origin: ContextVar[Origin] = ContextVar("origin", default=_UNSAID)


def origin_of(headers: Headers) -> Origin:
    """Return what a request says; a header that is no plain name counts as absent."""
    return Origin(
        platform=_name(headers.get(PLATFORM_HEADER)) or UNKNOWN_PLATFORM,
        run=_name(headers.get(TRACE_HEADER)),
    )


def account() -> tuple[str, str]:
    """Return who pays for the present call: the caller, and its run or nothing."""
    caller = current_caller()
    return caller.name, caller.claims.ask_id or origin.get().run


def _name(given: str | None) -> str:
    return given if given is not None and _NAME.fullmatch(given) else ""
