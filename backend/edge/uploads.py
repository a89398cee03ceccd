"""Uploaded files: safe names, a limit, and never half a file where a worker looks."""

from __future__ import annotations

import re
import unicodedata
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from backend.errors import BadOrderError, RequestTooLargeError

_PIECE_BYTES = 1 << 20
_LONGEST_NAME_BYTES = 200
_SOURCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_UNSAFE = re.compile(r"[^\w .()+,@=-]")


class Upload(Protocol):
    """A file as it arrives."""

    @property
    def filename(self) -> str | None:
        """Name that the sender gave it."""
        ...

    async def read(self, size: int = -1) -> bytes:
        """Return the next piece; empty at the end."""
        ...


class UploadFolder:
    """Keeps uploads under the data folder, a folder for each source.

    Args:
        directory: Made when absent.
        limit_bytes: Largest file.
    """

    def __init__(self, directory: Path, *, limit_bytes: int) -> None:
        self._directory = directory.resolve()
        self._limit_bytes = limit_bytes

    async def keep(self, source: str, files: Sequence[Upload]) -> Path:
        """Store files and return the folder of their source; a file of the same name is replaced.

        Raises:
            BadOrderError: The source or a file has a name that cannot be used.
            RequestTooLargeError: A file is over the limit.
        """
        if not _SOURCE.fullmatch(source):
            raise BadOrderError(f"{source!r} cannot name a source of uploads")
        if not files:
            raise BadOrderError("there is no file in the upload")
        folder = self._directory / source
        folder.mkdir(parents=True, exist_ok=True)
        for file in files:
            await self._store(file, folder / safe_name(file.filename or ""))
        return folder

    async def _store(self, file: Upload, target: Path) -> None:
        partial = target.with_name(f".{uuid.uuid4().hex}")
        size = 0
        try:
            with partial.open("wb") as sink:
                while piece := await file.read(_PIECE_BYTES):
                    size += len(piece)
                    if size > self._limit_bytes:
                        raise RequestTooLargeError(
                            f"{target.name}: a file may have at most {self._limit_bytes} bytes"
                        )
                    sink.write(piece)
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)


def safe_name(given: str) -> str:
    """Return the last part of a name with only harmless characters.

    Raises:
        BadOrderError: Nothing is left of it.
    """
    last = unicodedata.normalize("NFC", given).replace("\\", "/").rpartition("/")[2]
    name = _UNSAFE.sub("_", last).strip(" .")
    while len(name.encode()) > _LONGEST_NAME_BYTES:
        stem, dot, ending = name.rpartition(".")
        name = f"{stem[:-1]}{dot}{ending}" if stem else name[:-1]
    if not name.strip("_"):
        raise BadOrderError(f"{given!r} cannot name a file")
    return name
