"""The index on a Qdrant server or cluster: one collection a build.

Imported only where a server is configured: the client costs two seconds and 130 MB.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Iterable, Sequence
from contextlib import contextmanager

import numpy as np
from grpc import RpcError
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.conversions.common_types import PointId
from qdrant_client.http.exceptions import ApiException, ResponseHandlingException

from retrieval.access import Access, accesses_of
from retrieval.chunk import DenseVector, Matrix, Point, SparseVector
from retrieval.conditions import Ids, conditions
from retrieval.errors import IndexUnavailableError
from retrieval.filters_qdrant import index_filter
from retrieval.payload import KEYWORD_FIELDS, TIME_FIELDS
from retrieval.store import Candidate, CandidateLists, Filter, Measured, StoredPoint, list_order
from retrieval.store_qdrant_points import (
    DENSE,
    LATE,
    PARTS,
    SPARSE,
    VECTORS,
    from_record,
    several,
    terms,
    to_stored,
)

_WRITE_BATCH = 256
_SCROLL_BATCH = 256


class QdrantStore:
    """One build in one collection.

    Args:
        client: Shared with other stores; closing a store leaves it open.
        collection: Name of the build's collection.
        dimension: Length of its dense vectors.
        accesses: Every access of the points it holds; points written later add theirs.
    """

    def __init__(
        self,
        client: AsyncQdrantClient,
        collection: str,
        dimension: int,
        accesses: Iterable[Access] = (),
    ) -> None:
        self._client: AsyncQdrantClient | None = client
        self._collection = collection
        self._dimension = dimension
        self._accesses = set(accesses)

    @classmethod
    async def create(
        cls,
        client: AsyncQdrantClient,
        collection: str,
        dimension: int,
        *,
        late_dimension: int = 0,
        has_parts: bool = False,
        indexed: bool = True,
    ) -> QdrantStore:
        """Make an empty collection.

        Args:
            client: Where.
            collection: Its name, not taken yet.
            dimension: Length of its dense vectors.
            late_dimension: Length of its token vectors; 0 means that it has none.
            has_parts: Whether passages have vectors of their parts.
            indexed: Make payload indexes; the in-memory client has none and warns.

        Raises:
            IndexUnavailableError: The server refuses or cannot be reached.
        """
        vectors = {DENSE: models.VectorParams(size=dimension, distance=models.Distance.COSINE)}
        if late_dimension:
            vectors[LATE] = several(late_dimension, has_graph=False)
        if has_parts:
            vectors[PARTS] = several(dimension, has_graph=True)
        with translated(f"cannot make the collection {collection}"):
            await client.create_collection(
                collection,
                vectors_config=vectors,
                sparse_vectors_config={SPARSE: models.SparseVectorParams()},
            )
            for key in KEYWORD_FIELDS if indexed else ():
                await client.create_payload_index(
                    collection, key, field_schema=models.PayloadSchemaType.KEYWORD
                )
            for key in TIME_FIELDS if indexed else ():
                await client.create_payload_index(
                    collection, key, field_schema=models.PayloadSchemaType.DATETIME
                )
        return cls(client, collection, dimension)

    async def write(self, points: Sequence[Point]) -> None:
        """Write points durably: each batch is acknowledged before the next is sent."""
        for start in range(0, len(points), _WRITE_BATCH):
            batch = points[start : start + _WRITE_BATCH]
            stored = [to_stored(point, self._dimension) for point in batch]
            with translated("the server refuses the points"):
                await self._open().upsert(self._collection, stored, wait=True)
            for point in batch:
                self._accesses |= accesses_of(point.chunk)

    async def candidates(
        self,
        dense: DenseVector,
        sparse: SparseVector,
        *,
        limit: int,
        where: Filter,
        with_parts: bool = False,
    ) -> CandidateLists:
        """Return the best ``limit`` of each list as one batch, the filter inside the query."""
        found = conditions(where, self._accesses)
        if found is None:
            return CandidateLists((), ())
        only = index_filter(found)
        lists = await self._nearest(dense, sparse, limit, only, with_parts=with_parts)
        return CandidateLists(*(tuple(sorted(each, key=list_order)) for each in lists))

    async def measure(
        self, dense: DenseVector, sparse: SparseVector, chunk_ids: Sequence[str], *, where: Filter
    ) -> Measured:
        """Return the exact numbers of given points against a query.

        So few points are compared one by one, past any approximate graph.
        """
        found = conditions(where, self._accesses)
        if found is None or not chunk_ids:
            return Measured({}, {})
        only = index_filter((*found, Ids(tuple(chunk_ids))))
        near, words, _ = await self._nearest(dense, sparse, len(chunk_ids), only)
        return Measured({c.chunk_id: c.number for c in near}, {c.chunk_id: c.number for c in words})

    async def late_interaction(
        self, rows: Matrix, chunk_ids: Sequence[str], *, where: Filter
    ) -> dict[str, float]:
        """Return the sum of best matches of given points, by chunk id."""
        with translated("the build has no late-interaction vectors"):
            return await self._best_matches(rows, LATE, chunk_ids, where)

    async def part_cosines(
        self, dense: DenseVector, chunk_ids: Sequence[str], *, where: Filter
    ) -> dict[str, float]:
        """Return the cosine of the nearest part of given points, by chunk id."""
        with translated("the build has no parts"):
            return await self._best_matches(dense[np.newaxis], PARTS, chunk_ids, where)

    async def read(
        self, chunk_ids: Sequence[str], *, where: Filter, with_vectors: bool = False
    ) -> dict[str, StoredPoint]:
        """Return the visible ones of these points."""
        found = conditions(where, self._accesses)
        if found is None or not chunk_ids:
            return {}
        records, _ = await self._scroll(
            index_filter((*found, Ids(tuple(chunk_ids)))),
            len(chunk_ids),
            None,
            with_vectors=with_vectors,
        )
        return {str(record.id): from_record(record, where) for record in records}

    async def scan(self, *, where: Filter) -> AsyncIterator[StoredPoint]:
        """Yield every visible point, in id order, without vectors."""
        found = conditions(where, self._accesses)
        offset: PointId | None = None
        while found is not None:
            records, offset = await self._scroll(
                index_filter(found), _SCROLL_BATCH, offset, with_vectors=False
            )
            for record in records:
                yield from_record(record, where)
            if offset is None:
                return

    async def count(self, *, where: Filter) -> int:
        """Return the exact number of visible points."""
        found = conditions(where, self._accesses)
        if found is None:
            return 0
        with translated("the collection cannot be counted"):
            counted = await self._open().count(
                self._collection, count_filter=index_filter(found), exact=True
            )
        return counted.count

    async def close(self) -> None:
        """Let go of the client; further calls raise IndexUnavailableError."""
        self._client = None

    def _open(self) -> AsyncQdrantClient:
        if self._client is None:
            raise IndexUnavailableError("the index is closed")
        return self._client

    async def _nearest(
        self,
        dense: DenseVector,
        sparse: SparseVector,
        limit: int,
        only: models.Filter | None,
        *,
        with_parts: bool = False,
    ) -> tuple[list[Candidate], list[Candidate], list[Candidate]]:
        queries: dict[str, models.VectorInput] = {DENSE: dense.tolist()}
        if sparse.indices:
            queries[SPARSE] = terms(sparse)
        if with_parts:
            queries[PARTS] = [dense.tolist()]
        requests = [
            models.QueryRequest(query=query, using=name, limit=limit, filter=only)
            for name, query in queries.items()
        ]
        with translated("the collection cannot be searched"):
            answers = await self._open().query_batch_points(self._collection, requests=requests)
        lists = {
            name: [Candidate(str(p.id), p.score) for p in answer.points]
            for name, answer in zip(queries, answers, strict=True)
        }
        return lists[DENSE], lists.get(SPARSE, []), lists.get(PARTS, [])

    async def _best_matches(
        self, rows: Matrix, using: str, chunk_ids: Sequence[str], where: Filter
    ) -> dict[str, float]:
        found = conditions(where, self._accesses)
        if found is None or not chunk_ids:
            return {}
        answer = await self._open().query_points(
            self._collection,
            query=rows.tolist(),
            using=using,
            limit=len(chunk_ids),
            query_filter=index_filter((*found, Ids(tuple(chunk_ids)))),
            with_payload=False,
        )
        return {str(p.id): p.score for p in answer.points}

    async def _scroll(
        self,
        only: models.Filter | None,
        limit: int,
        offset: PointId | None,
        *,
        with_vectors: bool,
    ) -> tuple[list[models.Record], PointId | None]:
        with translated("the collection cannot be read"):
            return await self._open().scroll(
                self._collection,
                scroll_filter=only,
                limit=limit,
                offset=offset,
                with_payload=True,
                with_vectors=VECTORS if with_vectors else False,
            )


@contextmanager
def translated(failure: str) -> Generator[None]:
    """Turn the client's exceptions into ours."""
    try:
        yield
    except (ApiException, ResponseHandlingException, RpcError, ValueError, OSError) as error:
        raise IndexUnavailableError(f"{failure}: {error}") from error
