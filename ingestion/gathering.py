"""Everything the new build will hold: what was read now, and what is carried over."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ingestion.cleaning import Cleaned, clean
from ingestion.document import ParsedDocument
from ingestion.errors import EmptyRunError, SourceError, VanishedError
from ingestion.reading import ReadFile
from ingestion.records import BuildRecords, DocumentRecord, document_digest
from ingestion.report import DocumentReport, DocumentState, Progress, ProgressEvent
from ingestion.rules import Chunker
from ingestion.sources import Source
from ingestion.summaries import Summariser
from retrieval.manifest import Manifest

_FEW_DOCUMENTS = 10


class Reader(Protocol):
    """Reads the files of a source."""

    def read(self, source: Source) -> Iterator[ReadFile]:
        """Yield every file in order; blocks.

        Raises:
            SourceError: The source as a whole is not there, or may not be read.
        """
        ...


@dataclass(frozen=True, slots=True)
class GatheredDocument:
    """A document on its way: its record, and what the report says of it."""

    record: DocumentRecord
    state: DocumentState
    dropped: Mapping[str, int]


@dataclass(slots=True)
class Gathered:
    """What came together.

    Attributes:
        left_out: What is not in the index, with the reason.
        vanished: ``source/document`` of what the sources no longer have.
    """

    documents: list[GatheredDocument] = field(default_factory=list[GatheredDocument])
    left_out: list[DocumentReport] = field(default_factory=list[DocumentReport])
    vanished: list[str] = field(default_factory=list[str])

    def by_source(self) -> dict[str, list[DocumentRecord]]:
        """Return the records of each source."""
        found: dict[str, list[DocumentRecord]] = {}
        for document in self.documents:
            found.setdefault(document.record.source, []).append(document.record)
        return found


@dataclass(frozen=True, slots=True)
class Gatherer:
    """Reads and chunks sources against what the build in force already has.

    Attributes:
        chunking: Chunker, header format and model; a record made with others is of no use.
        most_vanished: Share of a source that may be gone at once, in [0, 1].
        summariser: Describes each document for its headers; None leaves them as they are.
    """

    reader: Reader
    chunker: Chunker
    chunking: str
    records: BuildRecords
    progress: Progress
    most_vanished: float
    summariser: Summariser | None = None

    async def gather(
        self, sources: Sequence[Source], removed: Sequence[str], previous: Manifest | None
    ) -> Gathered:
        """Return the documents of these sources and of all others of the build in force.

        Raises:
            SourceError: A source is not there, or its places differ in their labels.
            EmptyRunError: Nothing came out of a source.
            VanishedError: Too much of a source is gone.
            CarryOverError: Another source cannot be kept.
        """
        gathered = Gathered()
        named: dict[str, list[Source]] = {}
        for source in sources:
            named.setdefault(source.name, []).append(source)
        for places in named.values():
            await self._read(places, previous, gathered)
        if previous:
            replaced = named.keys() | set(removed)
            for name in sorted(previous.sources.keys() - replaced):
                records = await asyncio.to_thread(
                    self.records.carried, previous.build, name, self.chunking
                )
                gathered.documents.extend(
                    GatheredDocument(record, "carried_over", {}) for record in records
                )
        return gathered

    async def _read(
        self, places: Sequence[Source], previous: Manifest | None, gathered: Gathered
    ) -> None:
        """Read all places of one name: they are one source, which is replaced as a whole."""
        source = places[0]
        if any(place.labels != source.labels for place in places):
            raise SourceError(f"source {source.name!r} cannot have different labels in its places")
        known: Mapping[str, DocumentRecord] = {}
        if previous:
            known = await asyncio.to_thread(self.records.read, previous.build, source.name)
        files = _joined([await self._files(place) for place in places])
        documents = [document for file in files for document in file.documents]
        cleaned = Cleaned(tuple(documents), {}, {})
        if source.kind != "reference":  # its topics are sections: two may well have one text
            cleaned = await asyncio.to_thread(clean, documents)
        left_out = _left_out(source, files, cleaned)
        gathered.left_out += left_out
        dropped = {d.document_id: file.dropped for file in files for d in file.documents}
        chunks = 0
        for plain in cleaned.documents:
            document = await self._described(plain)
            count = cleaned.boilerplate.get(document.document_id, 0)
            extra = {"boilerplate": count} if count else {}
            made = await asyncio.to_thread(
                self._chunk, source, document, {**dropped[document.document_id], **extra}, known
            )
            gathered.documents.append(made)
            chunks += len(made.record.drafts)
        if not chunks and (left_out or not known):
            raise EmptyRunError(nothing_came_out(left_out, source.name))
        gone = sorted(known.keys() - {d.document_id for d in cleaned.documents})
        self._check_vanished(source, len(gone), len(known))
        gathered.vanished += [f"{source.name}/{document_id}" for document_id in gone]

    async def _described(self, document: ParsedDocument) -> ParsedDocument:
        if self.summariser is None:
            return document
        self.progress(ProgressEvent("reading", 0, 0, detail=f"describing {document.document_id}"))
        return await asyncio.to_thread(self.summariser.describe, document)

    async def _files(self, source: Source) -> list[ReadFile]:
        started = time.monotonic()
        found: list[ReadFile] = []
        files = self.reader.read(source)
        while (file := await asyncio.to_thread(next, files, None)) is not None:
            found.append(file)
            rate = len(found) / max(time.monotonic() - started, 1e-6)
            self.progress(ProgressEvent("reading", len(found), 0, rate, None, file.name))
        return found

    def _check_vanished(self, source: Source, gone: int, known: int) -> None:
        if known >= _FEW_DOCUMENTS and gone > self.most_vanished * known:
            raise VanishedError(
                f"{gone} of {known} documents of source {source.name!r} are gone at once; if that "
                "is meant, raise VOUCH_INGEST_MOST_VANISHED_SHARE for this run"
            )

    def _chunk(
        self,
        source: Source,
        document: ParsedDocument,
        dropped: Mapping[str, int],
        known: Mapping[str, DocumentRecord],
    ) -> GatheredDocument:
        digest = document_digest(document)
        before = known.get(document.document_id)
        if before and before.digest == digest and before.chunking == self.chunking:
            state: DocumentState = "unchanged" if before.labels == source.labels else "changed"
            record = before.model_copy(update={"labels": source.labels})
            return GatheredDocument(record, state, dropped)
        chunked = self.chunker.chunk(document)
        record = DocumentRecord(
            source=source.name,
            document_id=document.document_id,
            title=document.title,
            url=document.url,
            digest=digest,
            chunking=self.chunking,
            labels=source.labels,
            language=document.language,
            updated_at=document.updated_at,
            repeated_lines=chunked.repeated_lines,
            drafts=chunked.drafts,
        )
        return GatheredDocument(record, "changed" if before else "new", dropped)


def nothing_came_out(left_out: Sequence[DocumentReport], source: str = "") -> str:
    """Return what to tell when there is no chunk, of one source or of all."""
    reasons = "; ".join(f"{report.document_id}: {report.reason}" for report in left_out)
    where = f"source {source!r}" if source else "these sources"
    return f"no chunk came out of {where}" + (f" ({reasons})" if reasons else "")


def _joined(places: Sequence[Sequence[ReadFile]]) -> list[ReadFile]:
    """Return the files of all places; of two documents with one name the first place's is kept."""
    seen: set[str] = set()
    joined: list[ReadFile] = []
    for files in places:
        ids = {document.document_id for file in files for document in file.documents}
        for file in files:
            is_taken = any(document.document_id in seen for document in file.documents)
            reason = "another place of this source has a document of this name"
            joined.append(ReadFile(file.name, reason=reason) if is_taken else file)
        seen |= ids
    return joined


def _left_out(source: Source, files: Sequence[ReadFile], cleaned: Cleaned) -> list[DocumentReport]:
    unreadable = [
        DocumentReport(
            source=source.name,
            document_id=file.name,
            state="unreadable",
            chunks=0,
            duplicates=0,
            dropped=dict(file.dropped),
            reason=file.reason,
        )
        for file in files
        if file.reason
    ]
    same = [
        DocumentReport(
            source=source.name,
            document_id=document_id,
            state="same_page",
            chunks=0,
            duplicates=0,
            reason=f"the same page as {first}",
        )
        for document_id, first in cleaned.same_as.items()
    ]
    return unreadable + same
