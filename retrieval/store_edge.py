"""The embedded index: one qdrant-edge shard in a directory, owned by one process.

The engine holds the interpreter lock inside every call, so calls run straight on the event loop:
a thread would bring nothing. Searches take 0.1 to 8 milliseconds up to 50,000 points.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import qdrant_edge as edge

from retrieval.access import Access, accesses_of
from retrieval.chunk import DenseVector, Matrix, Point, SparseVector
from retrieval.conditions import Ids, conditions
from retrieval.errors import IndexUnavailableError, VectorError
from retrieval.filters_edge import index_filter
from retrieval.payload import KEYWORD_FIELDS, TIME_FIELDS
from retrieval.store import Candidate, CandidateLists, Filter, Measured, StoredPoint, list_order
from retrieval.store_edge_points import (
    DENSE,
    LATE,
    PARTS,
    SPARSE,
    VECTORS,
    from_record,
    several,
    to_stored,
)

_WRITE_BATCH = 256
_SCROLL_BATCH = 256


class EdgeStore:
    """One build in one directory.

    Args:
        shard: An open shard.
        dimension: Length of its dense vectors.
        accesses: Every access of the points it holds; points written later add theirs.
        released: Called once after the shard was closed.
    """

    def __init__(
        self,
        shard: edge.EdgeShard,
        dimension: int,
        accesses: Iterable[Access] = (),
        released: Callable[[], None] | None = None,
    ) -> None:
        self._released = released
        self._shard: edge.EdgeShard | None = shard
        self._dimension = dimension
        self._accesses = set(accesses)

    @classmethod
    def create(
        cls, path: Path, dimension: int, *, late_dimension: int = 0, has_parts: bool = False
    ) -> EdgeStore:
        """Make an empty index in a directory that does not exist yet.

        Args:
            path: The directory.
            dimension: Length of its dense vectors.
            late_dimension: Length of its token vectors; 0 means that it has none.
            has_parts: Whether passages have vectors of their parts.

        Raises:
            IndexUnavailableError: The directory is taken or cannot be written.
        """
        # Cold: files grow in steps of 32 MB, and would be read whole, holes and all, at each start.
        # A search reads the rows there are, and the system keeps them in memory all the same.
        vectors = {
            DENSE: edge.EdgeVectorParams(
                size=dimension, distance=edge.Distance.Cosine, memory=edge.Memory.Cold
            )
        }
        if late_dimension:
            vectors[LATE] = several(late_dimension)
        if has_parts:
            vectors[PARTS] = several(dimension)
        config = edge.EdgeConfig(
            vectors=vectors,
            sparse_vectors={SPARSE: edge.EdgeSparseVectorParams()},
        )
        path.mkdir(parents=True, exist_ok=True)
        with _translated(f"cannot make an index in {path}"):
            shard = edge.EdgeShard.create(str(path), config)
            for key in KEYWORD_FIELDS:
                shard.update(
                    edge.UpdateOperation.create_field_index(key, edge.PayloadSchemaType.Keyword)
                )
            for key in TIME_FIELDS:
                shard.update(
                    edge.UpdateOperation.create_field_index(key, edge.PayloadSchemaType.Datetime)
                )
        return cls(shard, dimension)

    @classmethod
    def open(
        cls,
        path: Path,
        dimension: int,
        accesses: Iterable[Access],
        released: Callable[[], None] | None = None,
    ) -> EdgeStore:
        """Open an index; one process at a time can.

        Raises:
            IndexUnavailableError: There is none, or another process owns it.
        """
        with _translated(f"cannot open the index in {path} (is another process serving it?)"):
            shard = edge.EdgeShard.load(str(path))
        return cls(shard, dimension, accesses, released)

    async def write(self, points: Sequence[Point]) -> None:
        """Write points durably, in small steps so that the event loop keeps turning."""
        for start in range(0, len(points), _WRITE_BATCH):
            batch = points[start : start + _WRITE_BATCH]
            stored = [to_stored(point, self._dimension) for point in batch]
            with _translated("the index refuses the points"):
                self._open().update(edge.UpdateOperation.upsert_points(stored))
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
        lists = self._nearest(dense, sparse, limit, only, with_parts=with_parts)
        return CandidateLists(*(tuple(sorted(each, key=list_order)) for each in lists))

    async def measure(
        self, dense: DenseVector, sparse: SparseVector, chunk_ids: Sequence[str], *, where: Filter
    ) -> Measured:
        """Return the exact numbers of given points against a query."""
        found = conditions(where, self._accesses)
        if found is None or not chunk_ids:
            return Measured({}, {})
        only = index_filter((*found, Ids(tuple(chunk_ids))))
        near, words, _ = self._nearest(dense, sparse, len(chunk_ids), only)
        return Measured({c.chunk_id: c.number for c in near}, {c.chunk_id: c.number for c in words})

    async def late_interaction(
        self, rows: Matrix, chunk_ids: Sequence[str], *, where: Filter
    ) -> dict[str, float]:
        """Return the sum of best matches of given points, by chunk id."""
        with _translated("the build has no late-interaction vectors"):
            return self._best_matches(rows, LATE, chunk_ids, where)

    async def part_cosines(
        self, dense: DenseVector, chunk_ids: Sequence[str], *, where: Filter
    ) -> dict[str, float]:
        """Return the cosine of the nearest part of given points, by chunk id."""
        with _translated("the build has no parts"):
            return self._best_matches(dense[np.newaxis], PARTS, chunk_ids, where)

    async def read(
        self, chunk_ids: Sequence[str], *, where: Filter, with_vectors: bool = False
    ) -> dict[str, StoredPoint]:
        """Return the visible ones of these points."""
        found = conditions(where, self._accesses)
        if found is None or not chunk_ids:
            return {}
        if not found:  # everything is visible: no need to ask the index who may see what
            with _translated("the index cannot be read"):
                records = self._open().retrieve(
                    list(chunk_ids),
                    with_payload=True,
                    with_vector=VECTORS if with_vectors else False,
                )
        else:
            records, _ = self._scroll(
                index_filter((*found, Ids(tuple(chunk_ids)))),
                len(chunk_ids),
                None,
                with_vectors=with_vectors,
            )
        return {str(record.id): from_record(record, where) for record in records}

    async def scan(self, *, where: Filter) -> AsyncIterator[StoredPoint]:
        """Yield every visible point, in id order, without vectors."""
        found = conditions(where, self._accesses)
        offset: edge.PointId | None = None
        while found is not None:
            records, offset = self._scroll(
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
        with _translated("the index cannot be counted"):
            return self._open().count(edge.CountRequest(exact=True, filter=index_filter(found)))

    async def close(self) -> None:
        """Release the engine; further calls raise IndexUnavailableError."""
        shard, self._shard = self._shard, None
        if shard is not None:
            with _translated("the index cannot be closed"):
                shard.flush()
                shard.close()
            if self._released is not None:
                self._released()

    def _open(self) -> edge.EdgeShard:
        if self._shard is None:
            raise IndexUnavailableError("the index is closed")
        return self._shard

    def _nearest(
        self,
        dense: DenseVector,
        sparse: SparseVector,
        limit: int,
        only: edge.Filter | None,
        *,
        with_parts: bool = False,
    ) -> tuple[list[Candidate], list[Candidate], list[Candidate]]:
        queries = {DENSE: edge.Query.Nearest(dense.tolist(), using=DENSE)}
        if sparse.indices:
            words = edge.SparseVector(list(sparse.indices), list(sparse.values))
            queries[SPARSE] = edge.Query.Nearest(words, using=SPARSE)
        if with_parts:
            queries[PARTS] = edge.Query.Nearest([dense.tolist()], using=PARTS)
        requests = [
            edge.QueryRequest(limit=limit, query=query, filter=only) for query in queries.values()
        ]
        with _translated("the index cannot be searched"):
            answers = self._open().query_batch(edge.QueryBatchRequest(requests))
        lists = {
            name: [Candidate(str(p.id), p.score) for p in points]
            for name, points in zip(queries, answers, strict=True)
        }
        return lists[DENSE], lists.get(SPARSE, []), lists.get(PARTS, [])

    def _best_matches(
        self, rows: Matrix, using: str, chunk_ids: Sequence[str], where: Filter
    ) -> dict[str, float]:
        found = conditions(where, self._accesses)
        if found is None or not chunk_ids:
            return {}
        request = edge.QueryRequest(
            limit=len(chunk_ids),
            query=edge.Query.Nearest(rows.tolist(), using=using),
            filter=index_filter((*found, Ids(tuple(chunk_ids)))),
        )
        return {str(p.id): p.score for p in self._open().query(request)}

    def _scroll(
        self,
        only: edge.Filter | None,
        limit: int,
        offset: edge.PointId | None,
        *,
        with_vectors: bool,
    ) -> tuple[list[edge.Record], edge.PointId | None]:
        with _translated("the index cannot be read"):
            return self._open().scroll(
                edge.ScrollRequest(
                    limit=limit,
                    offset=offset,
                    filter=only,
                    with_payload=True,
                    with_vector=VECTORS if with_vectors else False,
                )
            )


@contextmanager
def _translated(failure: str) -> Generator[None]:
    """Turn the engine's bare exceptions into ours."""
    try:
        yield
    except (IndexUnavailableError, VectorError):
        raise
    except Exception as error:  # the engine raises nothing more precise
        raise IndexUnavailableError(f"{failure}: {error}") from error
