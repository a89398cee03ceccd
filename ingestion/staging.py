"""Documents of a job on their way: bytes as they were read, then what the parser made of them.

A job reads its sources once. Every later step works on what was read then, so that a document taken
up again by another worker, or a source that changes meanwhile, changes nothing.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter

from ingestion.document import Parsed, RawContent
from ingestion.errors import SourceError
from ingestion.reading import ReadFile
from ingestion.sources import Source

_PARSED = TypeAdapter(Parsed)


class StagedFile(BaseModel):
    """What is known of a file beside its bytes.

    Attributes:
        source: Name of its source.
        has_content: Whether its bytes wait to be parsed.
        reason: Why there is nothing to parse; empty when there is, or was.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str
    name: str
    url: str = ""
    media_type: str = ""
    updated_at: str = ""
    has_content: bool = False
    reason: str = ""


class Staging:
    """The files of one job, by their place.

    Args:
        directory: Made when absent.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def put(self, place: int, file: StagedFile, content: bytes = b"") -> None:
        """Keep a file as it was read."""
        self._directory.mkdir(parents=True, exist_ok=True)
        if file.has_content:
            _write(self._directory / f"{place}.raw", content)
        _write(self._directory / f"{place}.json", file.model_dump_json().encode())

    def file(self, place: int) -> StagedFile:
        """Return what is known of a file.

        Raises:
            SourceError: It is not there any more.
        """
        try:
            return StagedFile.model_validate_json((self._directory / f"{place}.json").read_bytes())
        except FileNotFoundError as error:
            raise SourceError("the prepared files of this job are gone; retry it") from error

    def content(self, place: int) -> RawContent:
        """Return a file's bytes."""
        file = self.file(place)
        data = (self._directory / f"{place}.raw").read_bytes()
        return RawContent(file.name, file.url, data, file.media_type, file.updated_at)

    def keep_parsed(self, place: int, parsed: Parsed) -> None:
        """Keep what the parser made of a file."""
        self._directory.mkdir(parents=True, exist_ok=True)
        _write(self._directory / f"{place}.parsed", _PARSED.dump_json(parsed))

    def parsed(self, place: int) -> Parsed | None:
        """Return what the parser made of a file; None when it did not come to that."""
        path = self._directory / f"{place}.parsed"
        return _PARSED.validate_json(path.read_bytes()) if path.is_file() else None

    def remove(self) -> None:
        """Forget everything."""
        shutil.rmtree(self._directory, ignore_errors=True)


@dataclass(slots=True)
class Collector:
    """Takes the place of a parser while sources are listed: keeps the bytes.

    Attributes:
        names: ``source/document`` of every file so far.
    """

    staging: Staging
    names: list[str] = field(default_factory=list[str])
    _source: str = ""
    _is_recursive: bool = True

    def begin(self, source: Source, *, is_recursive: bool = True) -> None:
        """Say whose files come next, and whether those of inner folders count."""
        self._source = source.name
        self._is_recursive = is_recursive

    def parse(self, content: RawContent) -> Parsed:
        """Keep a file; there are no documents yet."""
        if not self._is_wanted(content.document_id):
            return Parsed(())
        file = StagedFile(
            source=self._source,
            name=content.document_id,
            url=content.url,
            media_type=content.media_type,
            updated_at=content.updated_at,
            has_content=True,
        )
        self.staging.put(self._next(content.document_id), file, content.data)
        return Parsed(())

    def keep(self, file: ReadFile) -> None:
        """Keep a file that came without bytes: parsed already, or not readable."""
        staged = StagedFile(source=self._source, name=file.name, reason=file.reason)
        if file.documents:
            self.staging.keep_parsed(len(self.names), Parsed(file.documents, file.dropped))
        if (file.documents or file.reason) and self._is_wanted(file.name):
            self.staging.put(self._next(file.name), staged)

    def close(self) -> None:
        """Nothing is held."""

    def _is_wanted(self, name: str) -> bool:
        return self._is_recursive or "/" not in name

    def _next(self, name: str) -> int:
        self.names.append(f"{self._source}/{name}")
        return len(self.names) - 1


@dataclass(frozen=True, slots=True)
class StagedReader:
    """Reads a job's sources from what was prepared.

    Attributes:
        places: How many files there are.
        failures: Why a file has nothing to give, by its place.
    """

    staging: Staging
    places: int
    failures: Mapping[int, str]

    def read(self, source: Source) -> Iterator[ReadFile]:
        """Yield the files of one source."""
        for place in range(self.places):
            file = self.staging.file(place)
            if file.source != source.name:
                continue
            parsed = None if place in self.failures else self.staging.parsed(place)
            if parsed:
                yield ReadFile(file.name, parsed.documents, parsed.dropped)
            else:
                reason = self.failures.get(place, "") or file.reason or "it was not prepared"
                yield ReadFile(file.name, reason=reason)


def remove_leftovers(directory: Path, active: Sequence[str]) -> None:
    """Forget what was prepared for jobs that have ended."""
    if directory.is_dir():
        for folder in directory.iterdir():
            if folder.name not in active:
                shutil.rmtree(folder, ignore_errors=True)


def _write(path: Path, content: bytes) -> None:
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    with partial.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
