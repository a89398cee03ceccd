"""A set's own index: built once, cached beside whatever is served, never in its way.

Each section of the corpus is one document, so that hits can be counted by the corpus's own ids. The
cache is keyed by everything that makes the build: corpus, chunker, header format, models. Vectors
are shared with the served index through the side store, so that an evaluation rarely embeds.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from evals.cutters import Cutter
from evals.errors import EvalError
from evals.observations import EVERYTHING
from evals.places import Places, read_places
from evals.section_documents import SECTIONS_VERSION, section_documents
from evals.sets import EvalSet
from evals.workbench import Workbench
from ingestion.dedup import Deduplicated, deduplicate
from ingestion.embedding import embed_chunks
from ingestion.part_weights import PartWeights
from ingestion.records import DocumentRecord, document_digest
from ingestion.report import Progress, ProgressEvent
from retrieval.builds import BuildCatalog
from retrieval.catalog import Catalog
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


def silent(event: ProgressEvent) -> None:
    """Report nothing."""


@dataclass(frozen=True, slots=True)
class Scratch:
    """One indexed set, open for searching through the engine that everything else uses.

    Attributes:
        places: Where every chunk stands.
    """

    engine: Engine
    manifest: Manifest
    places: Places

    @property
    def sections_of(self) -> dict[str, tuple[str, ...]]:
        """Chunk id to the ids of the sections it stands in, in order."""
        return self.places.documents_of

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
        bench.embedder,
        bench.sparse,
        header_format=cutter.header_format,
        chunker=cutter.name,
        parts=cutter.parts_name,
    )
    catalog = BuildCatalog(bench.directory / scratch_key(eval_set, stamp), _COLLECTION)
    if await catalog.current() is None:
        unique = await asyncio.to_thread(_cut_all, eval_set, cutter)
        points = await _embed(unique, bench, progress)
        await _write(catalog, stamp, points, len(eval_set.sections), unique.duplicates)
    async with open_engine_on(catalog, bench, profiles) as scratch:
        yield scratch


@asynccontextmanager
async def open_engine_on(
    catalog: Catalog, bench: Workbench, profiles: Mapping[str, SearchProfile]
) -> AsyncGenerator[Scratch]:
    """Open the engine on the build in force in a catalogue.

    Args:
        catalog: Holds a published build.
        bench: The models the build was made with.
        profiles: Ways to search, by name; the first is the default.
    """
    manifest = await catalog.current()
    if manifest is None:
        message = "the scratch build is gone: another evaluation removed it"
        raise EvalError(message)
    places = await _places(catalog, manifest)
    engine = Engine(
        ServingBuilds(catalog, _accept, keep_seconds=0.0, check_seconds=_CHECK_SECONDS),
        QueryEmbedder(bench.embedder),
        bench.sparse,
        profiles=profiles,
        default_profile=next(iter(profiles)),
    )
    try:
        yield Scratch(engine, manifest, places)
    finally:
        await engine.close()


def scratch_key(eval_set: EvalSet, stamp: Stamp) -> str:
    """Return the cache key: the same corpus made with the same parts has the same one."""
    hashed = hashlib.sha256(eval_set.corpus_digest.encode())
    hashed.update(SECTIONS_VERSION.encode())
    hashed.update(stamp.model_dump_json().encode())
    return f"{eval_set.name}-{hashed.hexdigest()[:16]}"


async def _embed(unique: Deduplicated, bench: Workbench, progress: Progress) -> list[Point]:
    points, _ = await embed_chunks(
        unique.chunks,
        embedder=bench.embedder,
        cache=bench.vectors,
        workers=bench.settings.ingest_workers,
        progress=progress,
    )
    weights = PartWeights.fitted(bench.sparse, unique.chunks)
    return [Point(chunk, own.dense, weights.embed(chunk), parts=own.parts) for chunk, own in points]


async def _write(
    catalog: BuildCatalog, stamp: Stamp, points: Sequence[Point], documents: int, duplicates: int
) -> None:
    writer = await catalog.create(stamp, "default")
    try:
        for at in range(0, len(points), _WRITE_BATCH):
            await writer.write(points[at : at + _WRITE_BATCH])
        await writer.finish(documents=documents, duplicates=duplicates)
        await writer.publish()
    except BaseException:
        await writer.abort()
        raise


async def _places(catalog: Catalog, manifest: Manifest) -> Places:
    opened = await catalog.open(manifest.build)
    try:
        return await read_places(opened.store)
    finally:
        await opened.store.close()


def _accept(manifest: Manifest) -> None:
    """Take any build: the cache key already says that it was made with these parts."""


def _cut_all(eval_set: EvalSet, cutter: Cutter) -> Deduplicated:
    return deduplicate(
        [
            DocumentRecord(
                source=eval_set.name,
                document_id=document.document_id,
                title=document.title,
                url=document.url,
                digest=document_digest(document),
                chunking=cutter.name,
                drafts=cutter.cut(document),
            )
            for document in section_documents(eval_set.sections)
        ]
    )
