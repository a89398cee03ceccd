"""Hand-written stand-ins for what stands around the tool server."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from knowledge.contracts import AuditRow
from retrieval.chunk import Chunk, DenseVector, Occurrence
from retrieval.errors import (
    BadRequestError,
    BuildGoneError,
    IndexUnavailableError,
    RerankError,
    RetrievalError,
    UnknownChunkError,
)
from retrieval.explain import Explanation, explain
from retrieval.manifest import Manifest, Stamp
from retrieval.search import (
    Hit,
    SearchOutcome,
    SearchRequest,
    SearchSignals,
    SectionEntry,
    SectionOutcome,
    SourceOutcome,
    Trace,
)
from retrieval.store import Filter, StoredPoint
from storage.errors import DatabaseUnavailableError
from tests.ingestion.words import WordTokenizer


def manifest(build: str = "20261129T000000-aaaaaa") -> Manifest:
    """Return the manifest of a small build."""
    return Manifest(
        build=build,
        created_at="2026-11-29T00:00:00Z",
        profile="default",
        stamp=Stamp(
            embedding_model="fake-model",
            model_digest="00",
            dimension=3,
            header_format="path/1",
            chunker="structural/1",
            sparse_model="bm25/1",
        ),
        chunks=3,
        documents=1,
        duplicates=0,
        sources={"guide": 2, "secret": 1},
        content_digest="00",
    )


def chunk(number: int, *, source: str = "guide", labels: tuple[str, ...] = ()) -> Chunk:
    """Return one chunk of the fake corpus."""
    text = f"Passage {number} says that the limit is {number * 10} requests."
    return Chunk(
        chunk_id=f"00000000-0000-5000-8000-{number:012d}",
        text=text,
        text_for_embedding=text,
        occurrences=(
            Occurrence(
                source=source,
                document_id="doc",
                source_url=f"https://docs.example/{source}#{number}",
                title="Guide",
                section_heading=f"Section {number}",
                parent_heading="Limits",
                position=number,
                labels=labels,
            ),
        ),
    )


def corpus(size: int = 4) -> tuple[Chunk, ...]:
    """Return public chunks of one source, and one labelled chunk of another."""
    public = tuple(chunk(number) for number in range(1, size + 1))
    return (*public, chunk(size + 1, source="secret", labels=("staff",)))


@dataclass
class FakeEngine:
    """An engine over a handful of chunks: real filters, made-up numbers.

    Attributes:
        entered: Set when a search begins.
        crash: Raised by every search.
        trouble: Raised when the published build is looked up.
        release: A search waits for it; set from the start.
        refreshed: Set when the published build was looked up.
        requests: Every search asked for.
    """

    chunks: tuple[Chunk, ...] = field(default_factory=corpus)
    build: str = "20261129T000000-aaaaaa"
    published: str = ""
    crash: Exception | None = None
    trouble: RetrievalError | None = None
    closed: bool = False
    entered: asyncio.Event = field(default_factory=asyncio.Event)
    release: asyncio.Event = field(default_factory=asyncio.Event)
    refreshed: asyncio.Event = field(default_factory=asyncio.Event)
    requests: list[SearchRequest] = field(default_factory=list[SearchRequest])

    def __post_init__(self) -> None:
        self.release.set()

    async def search(self, request: SearchRequest) -> SearchOutcome:
        self.requests.append(request)
        self._check_build(request.build)
        if request.profile not in {"", "default"}:
            raise BadRequestError(f"there is no profile {request.profile!r}")
        self.entered.set()
        await self.release.wait()
        if self.crash is not None:
            raise self.crash
        return self._outcome(request.query, self._visible(request.where)[: request.top_k])

    async def explain(self, request: SearchRequest, chunk_id: str) -> Explanation:
        outcome = await self.search(request)
        found = await self.measure(
            request.query, [chunk_id], where=request.where, build=request.build
        )
        return explain(outcome, chunk_id, cosine=found.get(chunk_id), bm25=None)

    async def source(self, chunk_id: str, *, where: Filter, build: str = "") -> SourceOutcome:
        self._check_build(build)
        found = self._find(chunk_id, where)
        return SourceOutcome(found, found.occurrences[0], manifest(self.build))

    async def sections(
        self, source: str, *, cursor: str, where: Filter, build: str = ""
    ) -> SectionOutcome:
        self._check_build(build)
        visible = self._visible(where)
        entries = tuple(
            SectionEntry(
                source=place.source,
                title=place.title,
                parent_heading=place.parent_heading,
                section_heading=place.section_heading,
                source_url=place.source_url,
                chunks=1,
                first_chunk_id=each.chunk_id,
            )
            for each in visible
            for place in each.occurrences[:1]
        )
        names = [entry.source for entry in entries]
        return SectionOutcome(
            entries, {name: names.count(name) for name in names}, "", manifest(self.build)
        )

    async def related(
        self, chunk_id: str, *, top_k: int, where: Filter, build: str = ""
    ) -> SearchOutcome:
        self._check_build(build)
        seed = self._find(chunk_id, where)
        others = [each for each in self._visible(where) if each is not seed]
        return self._outcome(seed.text, others[:top_k])

    async def read(
        self, chunk_ids: Sequence[str], *, where: Filter, build: str = ""
    ) -> Mapping[str, StoredPoint]:
        self._check_build(build)
        return {
            each.chunk_id: StoredPoint(each, _vector(each.text))
            for each in self._visible(where)
            if each.chunk_id in chunk_ids
        }

    async def measure(
        self, query: str, chunk_ids: Sequence[str], *, where: Filter, build: str = ""
    ) -> Mapping[str, float]:
        self._check_build(build)
        visible = {each.chunk_id for each in self._visible(where)}
        return {chunk_id: 0.5 for chunk_id in chunk_ids if chunk_id in visible}

    async def embed(self, texts: Sequence[str]) -> Sequence[DenseVector]:
        return [np.array([1.0, 0.0, 0.0], dtype=np.float32) for _ in texts]

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[DenseVector]:
        return [_vector(text) for text in texts]

    async def embed_query(self, text: str) -> DenseVector:
        return _vector(text)

    async def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        raise RerankError("the profile has no reranker")

    @property
    def tokenizer(self) -> WordTokenizer:
        return WordTokenizer()

    def info(self) -> Manifest:
        return manifest(self.build)

    async def refresh(self) -> None:
        if self.published:
            self.build = self.published
        self.refreshed.set()
        if self.trouble is not None:
            raise self.trouble

    async def close(self) -> None:
        self.closed = True

    def _check_build(self, build: str) -> None:
        if build and build != self.build:
            raise BuildGoneError(f"build {build} is no longer loaded")

    def _visible(self, where: Filter) -> list[Chunk]:
        return [each for each in self.chunks if _passes(each.occurrences[0], where)]

    def _find(self, chunk_id: str, where: Filter) -> Chunk:
        for each in self._visible(where):
            if each.chunk_id == chunk_id:
                return each
        raise UnknownChunkError(f"there is no passage {chunk_id}")

    def _outcome(self, query: str, found: Sequence[Chunk]) -> SearchOutcome:
        hits = tuple(
            Hit(
                chunk=each,
                occurrence=each.occurrences[0],
                cosine=0.9 - rank / 10,
                dense_rank=rank,
                sparse_rank=None,
                sparse_bm25=None,
                rrf=None,
                zscore=1.0,
                fused_rank=rank,
            )
            for rank, each in enumerate(found, start=1)
        )
        ids = tuple(hit.chunk.chunk_id for hit in hits)
        signals = SearchSignals(
            best_cosine=hits[0].cosine if hits else None,
            cosine_margin=0.1,
            sparse_per_term=0.5,
            term_coverage=0.5,
            unknown_terms=0.0,
            hit_count=len(hits),
        )
        trace = Trace(dense=ids, sparse=(), fused=ids, reranked=(), selected=ids)
        return SearchOutcome(query, hits, signals, manifest(self.build), (), trace)


def _vector(text: str) -> DenseVector:
    """Return a unit vector of a text's own: texts that differ in case and space share it."""
    digest = hashlib.sha256(" ".join(text.casefold().split()).encode()).digest()[:3]
    vector = np.frombuffer(digest, dtype=np.uint8).astype(np.float32) + 1
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def _passes(place: Occurrence, where: Filter) -> bool:
    return (not where.source or place.source == where.source) and set(place.labels) <= set(
        where.labels
    )


@dataclass
class FakeOpener:
    """Opens the engine once ``engine`` is set; until then there is no index."""

    engine: FakeEngine | None = None
    attempts: int = 0

    async def __call__(self) -> FakeEngine:
        self.attempts += 1
        if self.engine is None:
            raise IndexUnavailableError("no build is published yet: run an ingestion")
        return self.engine


@dataclass
class FakeSink:
    """Keeps audit rows in memory; can be made to refuse.

    Attributes:
        batches: Number of rows of each transaction.
        wrote: Set when rows were stored.
        entered: Set when a transaction begins.
        release: A transaction waits for it; set from the start.
    """

    stored: list[AuditRow] = field(default_factory=list[AuditRow])
    batches: list[int] = field(default_factory=list[int])
    refuses: bool = False
    wrote: asyncio.Event = field(default_factory=asyncio.Event)
    entered: asyncio.Event = field(default_factory=asyncio.Event)
    release: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.release.set()

    async def write(self, rows: Sequence[AuditRow]) -> None:
        self.entered.set()
        await asyncio.sleep(0)
        await self.release.wait()
        if self.refuses:
            raise DatabaseUnavailableError("the disk is full")
        self.batches.append(len(rows))
        self.stored.extend(rows)
        self.wrote.set()

    async def rows(self, ask_id: str) -> Sequence[AuditRow]:
        if self.refuses:
            raise DatabaseUnavailableError("the disk is full")
        return [row for row in self.stored if row.ask_id == ask_id]

    async def calls(self, caller: str, start: datetime, end: datetime) -> Sequence[AuditRow]:
        if self.refuses:
            raise DatabaseUnavailableError("the disk is full")
        return [
            row
            for row in self.stored
            if row.caller == caller and start <= datetime.fromisoformat(row.created_at) <= end
        ]

    async def erase(self, ask_ids: Sequence[str], caller: str) -> int:
        raise DatabaseUnavailableError("nothing is deleted here")

    async def erase_before(self, moment: datetime) -> int:
        raise DatabaseUnavailableError("nothing is deleted here")
