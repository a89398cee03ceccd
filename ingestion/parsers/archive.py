"""Limits on zip-based formats, checked before a library unpacks anything."""

from __future__ import annotations

import re
from io import BytesIO
from zipfile import BadZipFile, ZipFile

from ingestion.errors import UnreadableError

MOST_MEMBERS = 5000
MOST_UNPACKED_BYTES = 200_000_000
MOST_RATIO = 200
_SMALL_BYTES = 1_000_000
_PROLOG_BYTES = 4096
_DECLARATION = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)


def check_archive(data: bytes) -> None:
    """Refuse archives that would unpack to too much, and XML parts that declare entities.

    Raises:
        UnreadableError: Says which limit.
    """
    try:
        with ZipFile(BytesIO(data)) as archive:
            members = archive.infolist()
            unpacked = sum(member.file_size for member in members)
            if len(members) > MOST_MEMBERS:
                raise UnreadableError(f"archive of more than {MOST_MEMBERS} members")
            if unpacked > MOST_UNPACKED_BYTES or (
                unpacked > _SMALL_BYTES and unpacked > MOST_RATIO * len(data)
            ):
                raise UnreadableError(f"archive that unpacks to {unpacked} bytes")
            for member in members:
                if member.filename.endswith((".xml", ".rels")):
                    with archive.open(member) as part:
                        if _DECLARATION.search(part.read(_PROLOG_BYTES)):
                            raise UnreadableError("XML part that declares entities")
    except (BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError) as error:
        raise UnreadableError(f"damaged archive: {error}") from error
