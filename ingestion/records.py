"""What each build was made from, kept beside the builds.

The next run reads the documents of the sources it does not touch from here: the index itself, which
a server may hold open, is never opened for that. One JSON lines file per build and source.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ingestion.document import ParsedDocument
from ingestion.drafts import Draft
from ingestion.errors import CarryOverError

_NAME_DIGITS = 16


class DocumentRecord(BaseModel):
    """One document of a build with its chunks."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str
    document_id: str
    title: str
    url: str
    digest: str = Field(description="Over everything of the document that reaches the index.")
    chunking: str = Field(description="Chunker, header format and model that cut it.")
    labels: tuple[str, ...] = ()
    language: str = ""
    updated_at: str = ""
    repeated_lines: int = Field(default=0, ge=0)
    drafts: tuple[Draft, ...]


def document_digest(document: ParsedDocument) -> str:
    """Return the hash that tells whether a document changed."""
    hashed = hashlib.sha256()
    for part in (
        document.title,
        document.url,
        document.text,
        document.context,
        repr(document.blocks),
    ):
        hashed.update(part.encode("utf-8", "surrogatepass") + b"\0")
    hashed.update(repr(sorted(document.metadata.items())).encode("utf-8", "surrogatepass"))
    return hashed.hexdigest()


class BuildRecords:
    """The records of every build of one collection.

    Args:
        directory: Holds one folder per build.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def read(self, build: str, source: str) -> dict[str, DocumentRecord]:
        """Return the documents of one source in a build, by id; empty when it had none.

        Raises:
            CarryOverError: The file is damaged.
        """
        path = self._file(build, source)
        if not path.is_file():
            return {}
        try:
            with path.open(encoding="utf-8") as lines:
                found = [DocumentRecord.model_validate_json(line) for line in lines]
        except (ValidationError, UnicodeDecodeError) as error:
            raise CarryOverError(
                f"the record of source {source!r} in build {build} is damaged; ingest it again"
            ) from error
        return {record.document_id: record for record in found}

    def write(self, build: str, source: str, records: Iterable[DocumentRecord]) -> None:
        """Keep the documents of one source in a build."""
        path = self._file(build, source)
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".tmp")
        with partial.open("w", encoding="utf-8") as file:
            for record in records:
                file.write(record.model_dump_json() + "\n")
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)

    def carried(self, build: str, source: str, chunking: str) -> list[DocumentRecord]:
        """Return the documents of a source that goes into the next build as it is.

        Raises:
            CarryOverError: There is no record of it, or it was cut in another way.
        """
        records = list(self.read(build, source).values())
        if not records:
            raise CarryOverError(
                f"build {build} has no record of source {source!r}, so it cannot be kept; "
                "ingest it together with the others"
            )
        other = next((record.chunking for record in records if record.chunking != chunking), "")
        if other:
            raise CarryOverError(
                f"source {source!r} was cut by {other!r}, now it is {chunking!r}; "
                "ingest it together with the others"
            )
        return records

    def drop(self, build: str) -> None:
        """Forget a build."""
        shutil.rmtree(self._directory / build, ignore_errors=True)

    def _file(self, build: str, source: str) -> Path:
        name = hashlib.sha256(source.encode()).hexdigest()[:_NAME_DIGITS]
        return self._directory / build / f"{name}.jsonl"
