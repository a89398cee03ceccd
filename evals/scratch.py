"""A set's own index: built once, cached beside whatever is served, never in its way.

Each section of the corpus is one document, so that hits can be counted by the corpus's own ids. The
cache is keyed by everything that makes the build: corpus, chunker, header format, models. Vectors
are shared with the served index through the side store, so that an evaluation rarely embeds.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from evals.cutters import Cutter
from evals.sets import EvalSet, Section
from evals.workbench import Workbench
from ingestion.dedup import Deduplicated, deduplicate
from ingestion.document import Block, ParsedDocument
from ingestion.embedding import embed_passages
from ingestion.parsers.markdown import markdown_blocks
from ingestion.parsers.plain import plain_blocks
from ingestion.records import DocumentRecord, document_digest
from ingestion.report import Progress, ProgressEvent
from retrieval.builds import BuildCatalog
from retrieval.chunk import Point
from retrieval.engine import Engine
from retrieval.manifest import Manifest, Stamp
from retrieval.opening import make_stamp
from retrieval.profiles import SearchProfile
from retrieval.query_embedding import QueryEmbedder
from retrieval.search import SearchOutcome, SearchRequest
from retrieval.serving import ServingBuilds
from retrieval.store import Filter

_COLLECTION = "scratch"
_WRITE_BATCH = 256
_CHECK_SECONDS = 3600.0  # a scratch build never changes
EVERYTHING = Filter(all_labels=True)


def silent(event: ProgressEvent) -> None:
    """Report nothing."""


@dataclass(frozen=True, slots=True)
class Scratch:
    """One indexed set, open for searching through the engine that everything else uses.

    Attributes:
        sections_of: Chunk id to the ids of the sections it stands in, in order.
    """

    engine: Engine
    manifest: Manifest
    sections_of: dict[str, tuple[str, ...]]

    async def search(
        self, question: str, *, top_k: int, profile: str = "", where: Filter = EVERYTHING
    ) -> SearchOutcome:
        """Return what the engine finds.

        Args:
            question: As asked.
            top_k: Hits to return, 1 to 50.
            profile: One of the profiles it was opened with; empty takes the default.
            where: What may be found.
        """
        return await self.engine.search(
            SearchRequest(query=question, top_k=top_k, where=where, profile=profile)
        )

    def without(self, section_ids: frozenset[str]) -> Filter:
        """Return a filter that hides these sections, as if they had never been written."""
        kept = (c for c, ids in self.sections_of.items() if not section_ids.intersection(ids))
        return Filter(chunk_ids=tuple(kept), all_labels=True)


@asynccontextmanager
async def open_scratch(
    eval_set: EvalSet,
    bench: Workbench,
    *,
    profiles: Mapping[str, SearchProfile],
    cutter: Cutter | None = None,
    progress: Progress = silent,
) -> AsyncGenerator[Scratch]:
    """Index a set, or find it indexed, and open it.

    Args:
        eval_set: Its sections become documents.
        bench: Models and the cache.
        profiles: Ways to search, by name; the first is the default.
        cutter: How sections are cut; None takes the workbench's.
        progress: Called while passages are embedded.
    """
    cutter = cutter or bench.cutter
    stamp = make_stamp(
        bench.embedder, bench.sparse, header_format=cutter.header_format, chunker=cutter.name
    )
    catalog = BuildCatalog(bench.directory / scratch_key(eval_set, stamp), _COLLECTION)
    manifest = await catalog.current()
    if manifest is None:
        unique = await asyncio.to_thread(_cut_all, eval_set, cutter)
        points = await _embed(unique, bench, progress)
        manifest = await _write(catalog, stamp, points, len(eval_set.sections), unique.duplicates)
    sections_of = await _sections_of(catalog, manifest)
    embedder = QueryEmbedder(bench.embedder)
    engine = Engine(
        ServingBuilds(catalog, _accept, keep_seconds=0.0, check_seconds=_CHECK_SECONDS),
        embedder,
        bench.sparse,
        profiles=profiles,
        default_profile=next(iter(profiles)),
    )
    try:
        yield Scratch(engine, manifest, sections_of)
    finally:
        await engine.close()


def scratch_key(eval_set: EvalSet, stamp: Stamp) -> str:
    """Return the cache key: the same corpus made with the same parts has the same one."""
    hashed = hashlib.sha256(eval_set.corpus_digest.encode())
    hashed.update(stamp.model_dump_json().encode())
    return f"{eval_set.name}-{hashed.hexdigest()[:16]}"


def section_document(section: Section) -> ParsedDocument:
    """Return a section as a document whose header is ``path > heading``.

    The first line becomes the heading when it repeats it, so that it is not embedded twice.
    """
    text = section.text
    blocks = tuple(_blocks(section))
    path = urlsplit(section.url).path.strip("/") if section.url else section.title
    has_heading = any(block.kind == "heading" for block in blocks)
    title = path if has_heading or not section.heading else f"{path} > {section.heading}"
    return ParsedDocument(
        document_id=section.id, title=title, url=section.url, text=text, blocks=blocks
    )


def _blocks(section: Section) -> Iterator[Block]:
    text = section.text
    start = len(text) - len(text.lstrip())
    end = text.find("\n", start) if "\n" in text[start:] else len(text)
    if section.heading and text[start:end].strip(" #") == section.heading.strip():
        yield Block("heading", start, end, level=1, heading=section.heading)
        start = end
    is_markdown = "```" in text or "\n|" in text or "\n#" in text
    if is_markdown:
        yield from markdown_blocks(text[start:], start)
    else:
        for block in plain_blocks(text[start:]):
            yield Block(block.kind, block.start + start, block.end + start)


async def _embed(unique: Deduplicated, bench: Workbench, progress: Progress) -> list[Point]:
    embedded = await embed_passages(
        [chunk.text_for_embedding for chunk in unique.chunks],
        embedder=bench.embedder,
        cache=bench.vectors,
        workers=bench.workers,
        progress=progress,
    )
    return [
        Point(chunk, vector, bench.sparse.embed_document(chunk.text_for_embedding))
        for chunk, vector in zip(unique.chunks, embedded.vectors, strict=True)
    ]


async def _write(
    catalog: BuildCatalog, stamp: Stamp, points: Sequence[Point], documents: int, duplicates: int
) -> Manifest:
    writer = await catalog.create(stamp, "default")
    try:
        for at in range(0, len(points), _WRITE_BATCH):
            await writer.write(points[at : at + _WRITE_BATCH])
        manifest = await writer.finish(documents=documents, duplicates=duplicates)
        await writer.publish()
    except BaseException:
        await writer.abort()
        raise
    return manifest


async def _sections_of(catalog: BuildCatalog, manifest: Manifest) -> dict[str, tuple[str, ...]]:
    opened = await catalog.open(manifest.build)
    found: dict[str, tuple[str, ...]] = {}
    try:
        async for point in opened.store.scan(where=EVERYTHING):
            places = (occurrence.document_id for occurrence in point.chunk.occurrences)
            found[point.chunk.chunk_id] = tuple(dict.fromkeys(places))
    finally:
        await opened.store.close()
    return found


def _accept(manifest: Manifest) -> None:
    """Take any build: the cache key already says that it was made with these parts."""


def _cut_all(eval_set: EvalSet, cutter: Cutter) -> Deduplicated:
    records: list[DocumentRecord] = []
    for section in eval_set.sections:
        document = section_document(section)
        records.append(
            DocumentRecord(
                source=eval_set.name,
                document_id=section.id,
                title=document.title,
                url=document.url,
                digest=document_digest(document),
                chunking=cutter.name,
                drafts=cutter.cut(document),
            )
        )
    return deduplicate(records)
