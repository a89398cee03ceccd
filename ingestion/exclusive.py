"""One run at a time: two would each carry over a build that the other is about to replace."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from ingestion.errors import BusyError


@contextmanager
def exclusive(path: Path) -> Generator[None]:
    """Hold a lock file; the operating system releases it even when the process is killed.

    Raises:
        BusyError: Another process or task holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BusyError("another ingestion is under way in this collection") from error
        yield
    finally:
        os.close(handle)
