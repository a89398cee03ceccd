"""What a test does when something it needs is absent: skip and say so, or fail in CI."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


def require(*, present: bool, what: str) -> None:
    """Skip the test when ``what`` is absent; fail it where everything is meant to be present."""
    if present:
        return
    if os.environ.get("VOUCH_REQUIRE_SERVICES") == "1":
        pytest.fail(f"{what} is required here and is absent")
    pytest.skip(f"{what} is absent")


def require_port(port: int, what: str) -> None:
    """Skip or fail unless something listens on a loopback port."""
    with socket.socket() as probe:
        probe.settimeout(1)
        require(present=probe.connect_ex(("127.0.0.1", port)) == 0, what=what)


def find_chromium() -> str | None:
    """Return the path of a chromium, or None."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


def require_chromium() -> str:
    """Return the path of a chromium, or skip or fail."""
    found = find_chromium()
    require(present=found is not None, what="a chromium")
    return found or ""


def require_shared(name: str) -> Path:
    """Return a folder of the measuring data beside the project, or skip: it is never required."""
    folder = SHARED / name
    if not folder.exists():
        pytest.skip(f"the measuring data {name} is not beside the project")
    return folder
