"""From a source to its parsed documents, one file at a time; a bad file is a result, not a stop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from ingestion.document import Parsed, ParsedDocument, RawContent
from ingestion.errors import SourceError, UnreadableError
from ingestion.fetch import FetchLimits, fetch
from ingestion.parsers.sniffing import SUFFIXES
from ingestion.sample import reference_documents
from ingestion.sources import Source


class FileParser(Protocol):
    """Reads one file at a time."""

    def parse(self, content: RawContent) -> Parsed:
        """Return the documents of a file.

        Raises:
            UnreadableError: It cannot be read; the message is the reason.
        """
        ...

    def close(self) -> None:
        """Release what the parser holds."""
        ...


@dataclass(frozen=True, slots=True)
class ReadFile:
    """What came of one file.

    Attributes:
        name: Path within the source, or address.
        documents: Empty exactly when there is a reason.
        dropped: What the parser left out, by kind.
        reason: Why it could not be read.
    """

    name: str
    documents: tuple[ParsedDocument, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict[str, int])
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SourceReader:
    """Reads sources with one parser, inside limits."""

    parser: FileParser
    limits: FetchLimits

    def read(self, source: Source) -> Iterator[ReadFile]:
        """Yield every file of a source, in the order of their names.

        Raises:
            SourceError: The source as a whole is not there.
        """
        if source.kind == "reference":
            for document in reference_documents():
                yield ReadFile(document.document_id, (document,))
        elif source.kind == "url":
            yield self._parsed(fetch(source.location, self.limits))
        else:
            yield from self._path(source)

    def _path(self, source: Source) -> Iterator[ReadFile]:
        root = Path(source.location)
        if not root.exists():
            raise SourceError(f"{root}: nothing there")
        if root.is_file():
            yield self._file(source, root, root.name)
            return
        for path in sorted(root.rglob("*")):
            relative = path.relative_to(root)
            is_hidden = any(part.startswith(".") for part in relative.parts)
            if path.suffix.lower() in SUFFIXES and not is_hidden and not path.is_dir():
                yield self._file(source, path, relative.as_posix())

    def _file(self, source: Source, path: Path, name: str) -> ReadFile:
        if path.is_symlink():
            return ReadFile(name, reason="a symbolic link, which is not followed")
        try:
            status = path.stat()
            if status.st_size > self.limits.most_bytes:
                return ReadFile(name, reason=f"larger than {self.limits.most_bytes} bytes")
            data = path.read_bytes()
        except OSError as error:
            return ReadFile(name, reason=f"cannot be read: {error.strerror}")
        changed = datetime.fromtimestamp(status.st_mtime, UTC).isoformat(timespec="seconds")
        return self._parsed(RawContent(name, file_url(source, name), data, updated_at=changed))

    def _parsed(self, content: RawContent) -> ReadFile:
        try:
            parsed = self.parser.parse(content)
        except UnreadableError as error:
            return ReadFile(content.document_id, reason=str(error))
        return ReadFile(content.document_id, parsed.documents, parsed.dropped)


def file_url(source: Source, name: str) -> str:
    """Return the address of a file; one that is published nowhere is named by its source."""
    return f"{source.base_url}/{name}" if source.base_url else f"file:{source.name}/{name}"
