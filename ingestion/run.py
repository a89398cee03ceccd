"""One run: read, chunk, deduplicate, embed, write, verify, publish.

A run makes a whole new build, unless nothing changed. Sources it was not asked about are carried
over from the records of the build in force; nothing is visible to a reader before the last step,
and a run that fails leaves everything as it was.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence

from ingestion.building import Publisher
from ingestion.composition import IngestionTools, open_tools
from ingestion.dedup import Deduplicated, deduplicate
from ingestion.embedding import embed_chunks
from ingestion.errors import EmptyRunError
from ingestion.exclusive import exclusive
from ingestion.gathering import Gathered, Gatherer, Reader, nothing_came_out
from ingestion.header import header_format
from ingestion.reading import SourceReader
from ingestion.report import DocumentReport, IngestReport, Progress, ProgressEvent
from ingestion.settings import IngestionSettings
from ingestion.sources import Source
from ingestion.summaries import Summariser
from ingestion.verify import Expectation, check_expected
from retrieval.catalog import content_digest
from retrieval.manifest import Manifest, Stamp
from retrieval.opening import make_stamp


async def ingest(
    sources: Sequence[Source],
    settings: IngestionSettings,
    progress: Progress,
    *,
    removed: Sequence[str] = (),
    expect: Expectation | None = None,
) -> IngestReport:
    """Bring the index up to date with these sources and put the new build in force.

    Args:
        sources: Each is replaced as a whole; all other sources stay as they are.
        settings: Where the index is and how documents are cut.
        progress: Called often, from the event loop, and must return at once.
        removed: Names of sources to leave out of the new build.
        expect: How many chunks the new build should hold; anything else fails the run.

    Raises:
        IngestionError: Nothing came out of a source, one is not there, or the build is not whole.
        RetrievalError: The model or the index cannot be used.
    """
    tools = await asyncio.to_thread(open_tools, settings)
    try:
        with exclusive(settings.lock_path):
            return await run(sources, tools, settings, progress, removed=removed, expect=expect)
    finally:
        await tools.close()


async def run(
    sources: Sequence[Source],
    tools: IngestionTools,
    settings: IngestionSettings,
    progress: Progress,
    *,
    removed: Sequence[str] = (),
    expect: Expectation | None = None,
    reader: Reader | None = None,
) -> IngestReport:
    """Do what ``ingest`` does with tools that are already open.

    Args:
        sources: As for ``ingest``.
        tools: What the run works with; they stay open.
        settings: As for ``ingest``.
        progress: As for ``ingest``.
        removed: As for ``ingest``.
        expect: As for ``ingest``.
        reader: Has the documents; None reads them where the sources say.
    """
    started = time.monotonic()
    headers = header_format(tools.summaries.name if tools.summaries else "")
    summariser = Summariser(tools.summaries) if tools.summaries else None
    gatherer = Gatherer(
        reader=reader or SourceReader(tools.parser, tools.fetcher, settings.roots),
        chunker=tools.chunker,
        chunking=f"{tools.chunker.name}; {headers}; {tools.embedder.spec.name}",
        records=tools.records,
        progress=progress,
        most_vanished=settings.ingest_most_vanished_share,
        summariser=summariser,
    )
    previous = await tools.catalog.current()
    gathered = await gatherer.gather(sources, removed, previous)
    unique = await asyncio.to_thread(
        deduplicate, [document.record for document in gathered.documents]
    )
    if not unique.chunks:
        raise EmptyRunError(nothing_came_out(gathered.left_out))
    stamp = make_stamp(
        tools.embedder,
        tools.sparse,
        tools.late,
        header_format=headers,
        chunker=tools.chunker.name,
        parts=tools.chunker.parts_name,
    )
    embedded = 0
    if previous and _is_same(previous, stamp, settings.profile, gathered, unique):
        check_expected(previous.build, previous.chunks, expect)
        manifest = previous
    else:
        manifest, embedded = await _publish(
            gathered, unique, tools, settings, progress, stamp=stamp, expect=expect
        )
    progress(ProgressEvent("published", manifest.chunks, manifest.chunks))
    return IngestReport(
        build=manifest.build,
        seconds=time.monotonic() - started,
        documents=tuple(_reports(gathered, unique)),
        vanished=tuple(gathered.vanished),
        chunks=len(unique.chunks) + unique.duplicates,
        duplicates=unique.duplicates,
        points_written=0 if manifest is previous else manifest.chunks,
        embedded=embedded,
        summaries=summariser.report() if summariser else None,
    )


def _is_same(
    previous: Manifest, stamp: Stamp, profile: str, gathered: Gathered, unique: Deduplicated
) -> bool:
    """Whether the build in force already is what this run would make."""
    return (
        previous.stamp == stamp
        and previous.profile == profile
        and not gathered.vanished
        and all(d.state in {"unchanged", "carried_over"} for d in gathered.documents)
        and previous.content_digest == content_digest([c.chunk_id for c in unique.chunks])
        and previous.sources.keys() == gathered.by_source().keys()
    )


async def _publish(
    gathered: Gathered,
    unique: Deduplicated,
    tools: IngestionTools,
    settings: IngestionSettings,
    progress: Progress,
    *,
    stamp: Stamp,
    expect: Expectation | None,
) -> tuple[Manifest, int]:
    """Embed and publish; return the new build and how many passages went through the model."""
    points, embedded = await embed_chunks(
        unique.chunks,
        embedder=tools.embedder,
        cache=tools.vectors,
        workers=settings.ingest_workers,
        progress=progress,
    )
    publisher = Publisher(
        tools.catalog, tools.records, tools.sparse, tools.late, progress, settings.keep_builds
    )
    manifest = await publisher.publish(
        gathered,
        points,
        duplicates=unique.duplicates,
        stamp=stamp,
        profile=settings.profile,
        expect=expect,
    )
    return manifest, embedded


def _reports(gathered: Gathered, unique: Deduplicated) -> Iterator[DocumentReport]:
    for document in gathered.documents:
        record = document.record
        yield DocumentReport(
            source=record.source,
            document_id=record.document_id,
            state=document.state,
            chunks=len(record.drafts),
            duplicates=unique.by_document.get((record.source, record.document_id), 0),
            repeated_lines=record.repeated_lines,
            dropped=dict(document.dropped),
        )
    yield from gathered.left_out
