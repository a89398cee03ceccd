"""From a source to its parsed documents, one file at a time; a bad file is a result, not a stop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from ingestion.document import ParsedDocument, RawContent
from ingestion.errors import SourceError, UnreadableError
from ingestion.fetch import FetchLimits, fetch
from ingestion.parsers.registry import SUFFIXES, parse
from ingestion.sample import reference_documents
from ingestion.sources import Source


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


def read_source(source: Source, limits: FetchLimits) -> Iterator[ReadFile]:
    """Yield every file of a source, in the order of their names.

    Raises:
        SourceError: The source as a whole is not there.
    """
    if source.kind == "reference":
        for document in reference_documents():
            yield ReadFile(document.document_id, (document,))
    elif source.kind == "url":
        yield _read(fetch(source.location, limits))
    else:
        yield from _read_path(source, limits)


def _read_path(source: Source, limits: FetchLimits) -> Iterator[ReadFile]:
    root = Path(source.location)
    if not root.exists():
        raise SourceError(f"{root}: nothing there")
    if root.is_file():
        yield _read_file(source, root, root.name, limits)
        return
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root)
        is_hidden = any(part.startswith(".") for part in relative.parts)
        if path.is_file() and path.suffix.lower() in SUFFIXES and not is_hidden:
            yield _read_file(source, path, relative.as_posix(), limits)


def _read_file(source: Source, path: Path, name: str, limits: FetchLimits) -> ReadFile:
    try:
        status = path.stat()
        if status.st_size > limits.most_bytes:
            return ReadFile(name, reason=f"larger than {limits.most_bytes} bytes")
        data = path.read_bytes()
    except OSError as error:
        return ReadFile(name, reason=f"cannot be read: {error.strerror}")
    changed = datetime.fromtimestamp(status.st_mtime, UTC).isoformat(timespec="seconds")
    return _read(RawContent(name, file_url(source, name), data, updated_at=changed))


def file_url(source: Source, name: str) -> str:
    """Return the address of a file; one that is published nowhere is named by its source."""
    return f"{source.base_url}/{name}" if source.base_url else f"file:{source.name}/{name}"


def _read(content: RawContent) -> ReadFile:
    try:
        parsed = parse(content)
    except UnreadableError as error:
        return ReadFile(content.document_id, reason=str(error))
    return ReadFile(content.document_id, parsed.documents, parsed.dropped)
