"""Everything the new build will hold: what was read now, and what is carried over."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ingestion.chunking import ChunkRules, Tokenizer, chunk_document
from ingestion.document import ParsedDocument
from ingestion.fetch import FetchLimits
from ingestion.reading import ReadFile, read_source
from ingestion.records import BuildRecords, DocumentRecord, document_digest
from ingestion.report import DocumentReport, DocumentState, Progress, ProgressEvent
from ingestion.sources import Source
from retrieval.manifest import Manifest


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
        vanished: ``source/document`` of what the sources no longer have.
    """

    documents: list[GatheredDocument] = field(default_factory=list[GatheredDocument])
    unreadable: list[DocumentReport] = field(default_factory=list[DocumentReport])
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
    """

    tokenizer: Tokenizer
    rules: ChunkRules
    chunking: str
    limits: FetchLimits
    records: BuildRecords
    progress: Progress

    async def gather(self, sources: Sequence[Source], previous: Manifest | None) -> Gathered:
        """Return the documents of these sources and of all others of the build in force.

        Raises:
            SourceError: A source is not there.
            CarryOverError: Another source cannot be kept.
        """
        gathered = Gathered()
        for source in sources:
            await self._read(source, previous, gathered)
        if previous:
            kept = sorted(previous.sources.keys() - {source.name for source in sources})
            for name in kept:
                records = await asyncio.to_thread(
                    self.records.carried, previous.build, name, self.chunking
                )
                gathered.documents.extend(
                    GatheredDocument(record, "carried_over", {}) for record in records
                )
        return gathered

    async def _read(self, source: Source, previous: Manifest | None, gathered: Gathered) -> None:
        known: Mapping[str, DocumentRecord] = {}
        if previous:
            known = await asyncio.to_thread(self.records.read, previous.build, source.name)
        started = time.monotonic()
        seen: set[str] = set()
        files = read_source(source, self.limits)
        while (file := await asyncio.to_thread(next, files, None)) is not None:
            if file.reason:
                gathered.unreadable.append(_unreadable(source, file))
            for document in file.documents:
                if document.document_id not in seen:
                    seen.add(document.document_id)
                    gathered.documents.append(
                        await asyncio.to_thread(self._chunk, source, document, file, known)
                    )
            rate = len(seen) / max(time.monotonic() - started, 1e-6)
            self.progress(ProgressEvent("reading", len(seen), 0, rate, None, file.name))
        gathered.vanished += [f"{source.name}/{gone}" for gone in sorted(known.keys() - seen)]

    def _chunk(
        self,
        source: Source,
        document: ParsedDocument,
        file: ReadFile,
        known: Mapping[str, DocumentRecord],
    ) -> GatheredDocument:
        digest = document_digest(document)
        before = known.get(document.document_id)
        if before and before.digest == digest and before.chunking == self.chunking:
            record = before.model_copy(update={"labels": source.labels})
            return GatheredDocument(record, "unchanged", file.dropped)
        chunked = chunk_document(document, self.tokenizer, self.rules)
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
        return GatheredDocument(record, "changed" if before else "new", file.dropped)


def _unreadable(source: Source, file: ReadFile) -> DocumentReport:
    return DocumentReport(
        source=source.name,
        document_id=file.name,
        state="unreadable",
        chunks=0,
        duplicates=0,
        dropped=dict(file.dropped),
        reason=file.reason,
    )
