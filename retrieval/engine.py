"""The retrieval engine: everything that is asked of an index, in one place.

The inspector, the retrieval endpoint, the guard and the agent all come here, so that the same query
has the same hits and the same numbers whoever asks.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from retrieval.analysis import CachedAnalyser
from retrieval.candidates import Query, most_telling, weigh, weighs_parts, with_idf
from retrieval.catalog import OpenedBuild
from retrieval.chunk import DenseVector, SparseVector, only_ids
from retrieval.errors import BadRequestError, RerankError, UnknownChunkError
from retrieval.explain import Explanation, explain
from retrieval.late import LateEmbedder
from retrieval.manifest import Manifest
from retrieval.metrics import RetrievalMetrics
from retrieval.profiles import SearchProfile
from retrieval.query_embedding import QueryEmbedder
from retrieval.query_parts import embed_late_query, embed_sparse_query
from retrieval.rerank import Rerankers
from retrieval.search import SearchOutcome, SearchRequest, SectionOutcome, SourceOutcome
from retrieval.searching import run_search
from retrieval.sections import SectionTree, page_of, read_tree
from retrieval.serving import ServingBuilds
from retrieval.sparse import SparseEncoder
from retrieval.statistics import TermFrequencies
from retrieval.store import Filter, StoredPoint
from retrieval.tokens import Tokenizer

_KEPT_TREES = 16
_MOST_HITS = 50


class Engine:
    """Answers searches from whatever build is in force.

    Args:
        builds: Follows the published pointer.
        embedder: Of the model the builds are made with.
        sparse: Likewise.
        profiles: Ways to search, by name; each fits the models the builds are made with.
        default_profile: The one used when a request names none.
        late: The late-interaction model, None when the builds have none.
        rerankers: Where profiles find their rerankers.
        metrics: Counts what fell back.
    """

    def __init__(
        self,
        builds: ServingBuilds,
        embedder: QueryEmbedder,
        sparse: SparseEncoder,
        *,
        profiles: Mapping[str, SearchProfile],
        default_profile: str,
        late: LateEmbedder | None = None,
        rerankers: Rerankers | None = None,
        metrics: RetrievalMetrics | None = None,
    ) -> None:
        self._builds = builds
        self._embedder = embedder
        self._sparse = sparse
        self._analyser = CachedAnalyser(sparse)
        self._profiles = profiles
        self._default_profile = default_profile
        self._late = late
        self._rerankers = rerankers or Rerankers()
        self._metrics = metrics or RetrievalMetrics()
        self._trees: OrderedDict[tuple[str, Filter], SectionTree] = OrderedDict()

    async def search(self, request: SearchRequest) -> SearchOutcome:
        """Search a build.

        Raises:
            BadRequestError: The query is blank, top_k out of range, or a name unknown.
            InputTooLongError: The query cannot be read even in pieces.
            BuildGoneError: The pinned build is not open any more.
            IndexUnavailableError: Nothing can be searched.
            BuildMismatchError: The published build does not match this process's models.
        """
        if not request.query.strip():
            raise BadRequestError("the query is blank")
        profile = self._checked(request)
        async with self._builds.lease(request.build) as opened:
            query = await self._query(request, opened, profile)
            return await self._run(opened, query, request, profile)

    async def explain(self, request: SearchRequest, chunk_id: str) -> Explanation:
        """Say why a chunk is among the hits of a search, or is not.

        Raises:
            RetrievalError: As for ``search``.
        """
        outcome = await self.search(request)
        async with self._builds.lease(outcome.manifest.build) as opened:
            query = await self._query(request, opened, self._checked(request))
            measured = await opened.store.measure(
                query.dense, query.sparse, only_ids([chunk_id]), where=request.where
            )
        return explain(
            outcome,
            chunk_id,
            cosine=measured.dense.get(chunk_id),
            bm25=measured.sparse.get(chunk_id),
        )

    async def related(
        self, chunk_id: str, *, top_k: int, where: Filter, build: str = ""
    ) -> SearchOutcome:
        """Return the chunks nearest to a chunk; cosines are against that chunk.

        Raises:
            UnknownChunkError: No visible chunk has this id.
            RetrievalError: As for ``search``.
        """
        request = SearchRequest(query=chunk_id, top_k=top_k, where=where, build=build)
        profile = self._checked(request)
        async with self._builds.lease(build) as opened:
            # The chunk itself need not meet the fields of the filter, only be visible.
            seen = replace(where, fields=(), chunk_ids=None)
            found = await opened.store.read(only_ids([chunk_id]), where=seen, with_vectors=True)
            stored = found.get(chunk_id)
            if stored is None or stored.dense is None or stored.sparse is None:
                raise UnknownChunkError(f"there is no chunk {chunk_id}")
            frequencies = opened.statistics.visible(where.labels, all_labels=where.all_labels)
            query = Query(
                dense=stored.dense,
                sparse=most_telling(self._weighted(stored.sparse, frequencies)),
                words=(),
                saturation=self._sparse.saturation,
                with_parts=weighs_parts(opened.manifest, profile),
                excluded=chunk_id,
            )
            return await self._run(opened, query, request, profile)

    async def source(self, chunk_id: str, *, where: Filter, build: str = "") -> SourceOutcome:
        """Return the exact stored chunk and its visible neighbours' ids.

        Raises:
            UnknownChunkError: No visible chunk has this id.
        """
        async with self._builds.lease(build) as opened:
            found = await opened.store.read(only_ids([chunk_id]), where=where)
            if chunk_id not in found:
                raise UnknownChunkError(f"there is no chunk {chunk_id}")
            chunk = found[chunk_id].chunk
            place = chunk.occurrences[0]
            beside = [c for c in (place.previous_chunk_id, place.next_chunk_id) if c is not None]
            visible = await opened.store.read(beside, where=where) if beside else {}
            shown = replace(
                place,
                previous_chunk_id=_if_in(place.previous_chunk_id, visible),
                next_chunk_id=_if_in(place.next_chunk_id, visible),
            )
            return SourceOutcome(chunk, shown, opened.manifest)

    async def sections(
        self, source: str, *, cursor: str, where: Filter, build: str = ""
    ) -> SectionOutcome:
        """Return one page of the section tree.

        Raises:
            BadRequestError: The cursor is not one of this build's.
        """
        narrowed = replace(where, source=source) if source and not where.source else where
        if source and where.source and source != where.source:
            narrowed = replace(where, chunk_ids=())
        async with self._builds.lease(build) as opened:
            tree = await self._tree(opened, narrowed)
            page = page_of(tree, cursor, opened.manifest)
            return replace(page, visible_chunks=_count_visible(opened, where))

    async def read(
        self, chunk_ids: Sequence[str], *, where: Filter, build: str = ""
    ) -> dict[str, StoredPoint]:
        """Return the visible ones of these chunks, with their vectors."""
        async with self._builds.lease(build) as opened:
            return await opened.store.read(only_ids(chunk_ids), where=where, with_vectors=True)

    async def measure(
        self, query: str, chunk_ids: Sequence[str], *, where: Filter, build: str = ""
    ) -> dict[str, float]:
        """Return the raw cosine of each of these chunks that is visible, in [-1, 1]."""
        async with self._builds.lease(build) as opened:
            dense = await self._embedder.embed(query)
            measured = await opened.store.measure(
                dense, SparseVector((), ()), only_ids(chunk_ids), where=where
            )
        return {c: max(-1.0, min(1.0, cosine)) for c, cosine in measured.dense.items()}

    async def embed(self, texts: Sequence[str]) -> list[DenseVector]:
        """Return the vector of each text as a passage, shape (dimension,), unit length."""
        embed = self._embedder.embed_passage
        return list(await asyncio.gather(*(embed(text) for text in texts)))

    async def embed_passages(self, texts: Sequence[str]) -> list[DenseVector]:
        """Return the vector of each of many texts, which are not kept in memory."""
        return await self._embedder.embed_passages(texts)

    async def embed_query(self, text: str) -> DenseVector:
        """Return the vector of a text as a query, shape (dimension,), unit length."""
        return await self._embedder.embed(text)

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the logit of each text by the default profile's reranker.

        Raises:
            RerankError: The profile has none, or it failed.
        """
        reranker = self._profiles[self._default_profile].reranker
        if reranker is None:
            raise RerankError("the profile has no reranker")
        return await self._rerankers.of(reranker).rerank(query, texts)

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of the embedding model."""
        return self._embedder.tokenizer

    def info(self) -> Manifest:
        """Return the build in force.

        Raises:
            IndexUnavailableError: Nothing was opened yet.
        """
        return self._builds.manifest

    async def refresh(self) -> None:
        """Follow the published pointer now."""
        await self._builds.refresh()

    async def close(self) -> None:
        """Close every build and the embedder's thread."""
        await self._builds.close()
        await self._rerankers.close()
        self._embedder.close()

    async def _query(
        self, request: SearchRequest, opened: OpenedBuild, profile: SearchProfile
    ) -> Query:
        where = request.where
        frequencies = opened.statistics.visible(where.labels, all_labels=where.all_labels)
        late = await embed_late_query(self._late, request.query, profile)
        sparse, terms = await embed_sparse_query(self._sparse, request.query)
        return Query(
            dense=await self._embedder.embed(request.query),
            sparse=self._weighted(sparse, frequencies),
            words=weigh(terms, frequencies),
            saturation=self._sparse.saturation,
            late=late,
            with_parts=weighs_parts(opened.manifest, profile),
            analyser=self._analyser,
        )

    async def _run(
        self, opened: OpenedBuild, query: Query, request: SearchRequest, profile: SearchProfile
    ) -> SearchOutcome:
        outcome = await run_search(opened, query, request, profile, self._rerankers)
        for stage in outcome.degraded:
            self._metrics.degraded.labels(stage).inc()
        return replace(outcome, visible_chunks=_count_visible(opened, request.where))

    def _weighted(self, vector: SparseVector, frequencies: TermFrequencies) -> SparseVector:
        return with_idf(vector, frequencies) if self._sparse.uses_idf else vector

    def _checked(self, request: SearchRequest) -> SearchProfile:
        if not 1 <= request.top_k <= _MOST_HITS:
            raise BadRequestError(f"top_k is 1 to {_MOST_HITS}, not {request.top_k}")
        name = request.profile or self._default_profile
        profile = self._profiles.get(name)
        if profile is None:
            known = ", ".join(sorted(self._profiles))
            raise BadRequestError(f"unknown profile {name!r}; known are {known}")
        return profile

    async def _tree(self, opened: OpenedBuild, where: Filter) -> SectionTree:
        key = (opened.manifest.build, where)
        tree = self._trees.get(key)
        if tree is None:
            tree = self._trees[key] = await read_tree(opened.store, where)
            while len(self._trees) > _KEPT_TREES:
                self._trees.popitem(last=False)
        return tree


def _count_visible(opened: OpenedBuild, where: Filter) -> int:
    return opened.statistics.visible(where.labels, all_labels=where.all_labels).chunks


def _if_in(chunk_id: str | None, visible: Mapping[str, object]) -> str | None:
    return chunk_id if chunk_id in visible else None
