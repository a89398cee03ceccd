"""Notices that files of a source changed, by their names, sizes and times."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from ingestion.sources import Source

Fingerprint: TypeAlias = frozenset[tuple[str, int, int]]


def fingerprint(sources: Sequence[Source]) -> Fingerprint:
    """Return what tells whether a file of these sources came, went or changed."""
    found: set[tuple[str, int, int]] = set()
    for source in sources:
        if source.kind == "path":
            root = Path(source.location)
            paths = [root] if root.is_file() else _files(root)
            found.update(print_ for path in paths if (print_ := _print(path)))
    return frozenset(found)


async def changes(
    look: Callable[[], Fingerprint], pause: Callable[[], Awaitable[None]]
) -> AsyncGenerator[None]:
    """Yield whenever something changed and then stayed as it is for one look.

    A file that is still being written changes from look to look, so it is not read half.

    Args:
        look: Returns the present fingerprint; blocks.
        pause: Waits between two looks.
    """
    settled = last = await asyncio.to_thread(look)
    while True:
        await pause()
        present = await asyncio.to_thread(look)
        if present == last and present != settled:
            settled = present
            yield
        last = present


def _files(folder: Path) -> list[Path]:
    found: list[Path] = []
    for directory, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(directory) / name for name in names if not name.startswith(".")]
    return found


def _print(path: Path) -> tuple[str, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None  # it went away between listing and looking
    return str(path), status.st_size, status.st_mtime_ns
