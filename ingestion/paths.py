"""Which files may be read: those under allowed roots, by no way around."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ingestion.errors import SourceError


def check_path(location: str, roots: Sequence[Path]) -> Path:
    """Return the path of a source, resolved.

    Args:
        location: A file or folder.
        roots: Folders it must be in; empty allows any, for a command run by its own user.

    Raises:
        SourceError: Nothing is there, it is outside the roots, or a link or ``..`` leads to it.
    """
    path = Path(location).expanduser()
    if roots and ".." in path.parts:
        raise SourceError(f"{location}: '..' is not followed")
    if not path.exists():
        raise SourceError(f"{location}: nothing there")
    resolved = path.resolve()
    if not roots:
        return resolved
    if not any(resolved.is_relative_to(root.resolve()) for root in roots):
        raise SourceError(f"{location}: outside the folders that may be read")
    if _has_link(path, roots):
        raise SourceError(f"{location}: symbolic links are not followed")
    return resolved


def files_under(
    folder: Path,
    suffixes: frozenset[str],
    *,
    glob: str = "",
    left_out: str = "",
    on_closed: Callable[[OSError], None] | None = None,
) -> Iterator[Path]:
    """Yield the readable files of a folder in order, hidden ones and linked folders left out.

    Args:
        folder: Where to look.
        suffixes: Endings to look for, lower case, with the dot.
        glob: Pattern of names relative to the folder; empty takes all.
        left_out: Pattern of names that are not taken; empty leaves none out.
        on_closed: Told of each folder that cannot be looked into; None passes over it.
    """
    for directory, folders, names in os.walk(folder, followlinks=False, onerror=on_closed):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(directory) / name
            relative = path.relative_to(folder)
            is_wanted = path.suffix.lower() in suffixes and not name.startswith(".")
            if left_out and relative.match(left_out):
                continue
            if is_wanted and (not glob or relative.match(glob)):
                yield path


def _has_link(path: Path, roots: Sequence[Path]) -> bool:
    """Whether a step below the root that holds the path is a link."""
    absolute = Path.cwd() / path
    steps = [absolute, *absolute.parents]
    inside = [step for step in steps if any(step != r and step.is_relative_to(r) for r in roots)]
    return any(step.is_symlink() for step in inside)
