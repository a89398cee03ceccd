"""What a process says of its own health."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import metadata
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

CheckStatus = Literal["ok", "degraded", "down"]


class Check(BaseModel):
    """State of one thing the process depends on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    status: CheckStatus
    detail: str = Field(default="", description="Why it is not ok, and what to do about it.")


class HealthDocument(BaseModel):
    """Body of ``/healthz`` and ``/readyz``.

    The process answers at all, so it is alive; ``status`` is that of its worst dependency.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    process: str
    version: str
    status: CheckStatus
    checks: dict[str, Check]
    details: dict[str, str] = Field(
        default_factory=dict, description="Facts worth seeing at a glance, by name."
    )


def describe_health(
    process: str,
    *,
    version: str,
    checks: Mapping[str, Check],
    details: Mapping[str, str] | None = None,
) -> HealthDocument:
    """Return the health document over these checks."""
    found = {check.status for check in checks.values()}
    worst: CheckStatus = "down" if "down" in found else "degraded" if "degraded" in found else "ok"
    return HealthDocument(
        process=process,
        version=version,
        status=worst,
        checks=dict(checks),
        details=dict(details or {}),
    )


def installed_version() -> str:
    """Return the version of the installed package, or ``0+source`` when run from a checkout."""
    try:
        return metadata.version("vouch")
    except metadata.PackageNotFoundError:
        return "0+source"
