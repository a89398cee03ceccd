"""A first look at paths and addresses of jobs; the worker looks again, and has the last word."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from backend.errors import BadOrderError
from storage.source_names import check_source_name

_MOST_COUNTED = 100_000


def locate(text: str, roots: Sequence[Path]) -> tuple[Path, str]:
    """Return a path under one of the roots, and the name of its source.

    Args:
        text: Absolute, or relative to one of the roots.
        roots: Folders that jobs may read.

    Raises:
        BadOrderError: It is outside the roots, nothing is there, or ``..`` or a link leads to it.
    """
    if not roots:
        raise BadOrderError("no folder may be read by jobs; set VOUCH_INGEST_ROOTS")
    if "\x00" in text or ".." in Path(text).parts:
        raise BadOrderError(f"{text!r}: '..' is not followed")
    for root in (root.resolve() for root in roots):
        path = root / text
        if not path.is_relative_to(root) or not path.resolve().is_relative_to(root):
            continue
        if path.resolve() != path:
            raise BadOrderError(f"{text}: symbolic links are not followed")
        if path.exists():
            return path, require_name(
                path.relative_to(root).as_posix() if path != root else root.name
            )
    raise BadOrderError(f"{text}: nothing there that jobs may read")


def require_name(name: str) -> str:
    """Return a source's name.

    Raises:
        BadOrderError: It cannot be shown and typed again.
    """
    try:
        return check_source_name(name)
    except ValueError as error:
        raise BadOrderError(f"{name!r}: {error}") from error


def count_files(folder: Path, glob: str, *, is_recursive: bool) -> int:
    """Return how many files a folder seems to have, hidden ones left out."""
    count = 0
    for path in folder.rglob("*") if is_recursive else folder.glob("*"):
        relative = path.relative_to(folder)
        is_hidden = any(part.startswith(".") for part in relative.parts)
        if not is_hidden and (not glob or relative.match(glob)) and path.is_file():
            count += 1
        if count >= _MOST_COUNTED:
            break
    return count


def host_of(url: str) -> str:
    """Return the host of an address.

    Raises:
        BadOrderError: It is no http or https address.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError as error:
        raise BadOrderError(f"{url!r} is not an address") from error
    if parts.scheme not in {"http", "https"} or not host or parts.username:
        raise BadOrderError(f"{url!r} is not like https://host/path")
    return host
