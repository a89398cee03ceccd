"""Memories in an embedded shard of their own, owned by one process.

Calls run on the event loop, as in ``store_edge``: the engine holds the interpreter lock anyway.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import qdrant_edge as edge

from retrieval.chunk import DenseVector
from retrieval.errors import IndexUnavailableError
from retrieval.memory import AllOf, AnyOf, Bounds, Fact, MemoryPoint, Not, Wanted
from retrieval.memory_payload import FACTS, from_payload, number_key, to_payload

_DENSE = "dense"


class EdgeMemoryStore:
    """One shard in one directory, made when there is none.

    Args:
        path: The directory.
        dimension: Length of the vectors.

    Raises:
        IndexUnavailableError: It cannot be opened; another process may own it.
    """

    def __init__(self, path: Path, dimension: int) -> None:
        self._shard: edge.EdgeShard | None = None
        with _translated(f"cannot open the memories in {path} (does another process?)"):
            if path.is_dir() and any(path.iterdir()):
                self._shard = edge.EdgeShard.load(str(path))
                return
            path.mkdir(parents=True, exist_ok=True)
            params = edge.EdgeVectorParams(size=dimension, distance=edge.Distance.Cosine)
            shard = edge.EdgeShard.create(str(path), edge.EdgeConfig(vectors={_DENSE: params}))
            shard.update(
                edge.UpdateOperation.create_field_index(FACTS, edge.PayloadSchemaType.Keyword)
            )
            self._shard = shard

    async def put(self, points: Sequence[MemoryPoint]) -> None:
        """Store memories with their vectors, durably."""
        stored = [
            edge.Point(point.memory_id, {_DENSE: point.vector.tolist()}, to_payload(point))
            for point in points
            if point.vector is not None
        ]
        with _translated("the memories cannot be written"):
            self._open().update(edge.UpdateOperation.upsert_points(stored))
            self._open().flush()

    async def nearest(
        self, vector: DenseVector, *, where: Wanted, limit: int
    ) -> list[tuple[MemoryPoint, float]]:
        """Return the nearest memories that meet a condition, with their cosines, best first."""
        request = edge.QueryRequest(
            limit=limit,
            query=edge.Query.Nearest(vector.tolist(), using=_DENSE),
            filter=_filter(where),
            with_payload=True,
        )
        with _translated("the memories cannot be searched"):
            found = self._open().query_batch(edge.QueryBatchRequest([request]))[0]
        return [(from_payload(str(each.id), each.payload or {}), each.score) for each in found]

    async def remove(self, *, where: Wanted) -> int:
        """Delete every memory that meets a condition; returns how many there were."""
        only = _filter(where)
        with _translated("the memories cannot be deleted"):
            count = self._open().count(edge.CountRequest(exact=True, filter=only))
            if count:
                self._open().update(edge.UpdateOperation.delete_points_by_filter(only))
                self._open().flush()
        return count

    async def close(self) -> None:
        """Release the shard; further calls raise IndexUnavailableError."""
        shard, self._shard = self._shard, None
        if shard is not None:
            with _translated("the memories cannot be closed"):
                shard.flush()
                shard.close()

    def _open(self) -> edge.EdgeShard:
        if self._shard is None:
            raise IndexUnavailableError("the memories are closed")
        return self._shard


def _filter(wanted: Wanted) -> edge.Filter:
    match wanted:
        case AllOf():
            return edge.Filter(must=[_condition(part) for part in wanted.parts])
        case AnyOf():
            return edge.Filter(should=[_condition(part) for part in wanted.parts])
        case Not():
            return edge.Filter(must_not=[_condition(wanted.part)])
        case _:
            return edge.Filter(must=[_condition(wanted)])


def _condition(wanted: Wanted) -> edge.ConditionType:
    match wanted:
        case Fact():
            return edge.FieldCondition(key=FACTS, match=edge.MatchAny(list(wanted.texts)))
        case Bounds():
            bounds = edge.RangeFloat(
                gt=wanted.above, gte=wanted.at_least, lt=wanted.below, lte=wanted.at_most
            )
            return edge.FieldCondition(key=number_key(wanted.name), range=bounds)
        case _:
            return _filter(wanted)


@contextmanager
def _translated(failure: str) -> Generator[None]:
    """Turn the engine's bare exceptions into ours."""
    try:
        yield
    except IndexUnavailableError:
        raise
    except Exception as error:  # the engine raises nothing more precise
        raise IndexUnavailableError(f"{failure}: {error}") from error
