"""From a source to its parsed documents, one file at a time; a bad file is a result, not a stop."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from ingestion.document import Parsed, ParsedDocument, RawContent
from ingestion.errors import UnreadableError
from ingestion.fetch import Fetcher
from ingestion.parsers.sniffing import SUFFIXES
from ingestion.paths import check_path, files_under
from ingestion.sample import reference_documents
from ingestion.site import read_site
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
    """Reads sources with one parser, inside limits.

    Attributes:
        roots: Folders that paths must be in; empty allows any.
    """

    parser: FileParser
    fetcher: Fetcher
    roots: tuple[Path, ...] = ()

    def read(self, source: Source) -> Iterator[ReadFile]:
        """Yield every file of a source, in the order of their names.

        Raises:
            SourceError: The source as a whole is not there, or may not be read.
        """
        if source.kind == "reference":
            for document in reference_documents():
                yield ReadFile(document.document_id, (document,))
        elif source.kind == "url":
            for page in read_site(source.location, self.fetcher):
                if isinstance(page, RawContent):
                    yield self._parsed(page)
                else:
                    yield ReadFile(page[0], reason=page[1])
        else:
            yield from self._path(source)

    def _path(self, source: Source) -> Iterator[ReadFile]:
        root = check_path(source.location, self.roots)
        if root.is_file():
            yield self._file(source, root, root.name)
            return
        closed: list[OSError] = []
        for path in files_under(
            root, SUFFIXES, glob=source.glob, left_out=source.left_out, on_closed=closed.append
        ):
            yield self._file(source, path, path.relative_to(root).as_posix())
        for error in closed:
            name = Path(str(error.filename)).relative_to(root).as_posix()
            yield ReadFile(f"{_shown(name)}/", reason=f"cannot be looked into: {error.strerror}")

    def _file(self, source: Source, path: Path, name: str) -> ReadFile:
        if name != _shown(name):
            return ReadFile(_shown(name), reason="a name that is no text")
        if path.is_symlink():
            return ReadFile(name, reason="a symbolic link, which is not followed")
        try:
            status = path.stat()
            if not stat.S_ISREG(status.st_mode):  # reading a pipe would wait for its other end
                return ReadFile(name, reason="a pipe or device, not a file")
            if status.st_size > self.fetcher.limits.most_bytes:
                return ReadFile(name, reason=f"larger than {self.fetcher.limits.most_bytes} bytes")
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
        documents = tuple(with_own_address(document, content) for document in parsed.documents)
        return ReadFile(content.document_id, documents, parsed.dropped)


def with_own_address(document: ParsedDocument, content: RawContent) -> ParsedDocument:
    """Return the document; an address it gives itself stays only if a reader may follow it.

    Front matter, feeds and the like say where their text is published. That is a page of the web
    or a path, never a script, a file of the reader's or data.
    """
    if document.url.startswith(content.url) or _is_page(document.url):
        return document
    return replace(document, url=content.url)


def _is_page(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    if parts.scheme in {"http", "https"}:
        return bool(parts.hostname)
    return not parts.scheme and not parts.netloc


def _shown(name: str) -> str:
    """Return a name with a mark for each byte of it that is no text."""
    return name.encode("utf-8", "replace").decode("utf-8")


def file_url(source: Source, name: str) -> str:
    """Return the address of a file; one that is published nowhere is named by its source."""
    return f"{source.base_url}/{name}" if source.base_url else f"file:{source.name}/{name}"
