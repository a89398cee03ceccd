"""Memories in a collection of their own on a Qdrant server.

Imported only where a server is configured: the client costs two seconds and 130 MB.
"""

from __future__ import annotations

from collections.abc import Sequence

from qdrant_client import AsyncQdrantClient, models

from retrieval.chunk import DenseVector
from retrieval.memory import AllOf, AnyOf, Bounds, Fact, MemoryPoint, Not, Wanted
from retrieval.memory_payload import FACTS, from_payload, number_key, to_payload
from retrieval.store_qdrant import translated

_DENSE = "dense"


class QdrantMemoryStore:
    """One collection, made at the first use when there is none.

    Args:
        client: Owned from here on; ``close`` closes it.
        collection: Its name.
        dimension: Length of the vectors.
        indexed: Make payload indexes; the in-memory client has none and warns.
    """

    def __init__(
        self,
        client: AsyncQdrantClient,
        collection: str,
        dimension: int,
        *,
        indexed: bool = True,
    ) -> None:
        self._client = client
        self._collection = collection
        self._dimension = dimension
        self._indexed = indexed
        self._is_made = False

    async def put(self, points: Sequence[MemoryPoint]) -> None:
        """Store memories with their vectors, durably."""
        stored = [
            models.PointStruct(
                id=point.memory_id,
                vector={_DENSE: point.vector.tolist()},
                payload=to_payload(point),
            )
            for point in points
            if point.vector is not None
        ]
        await self._make()
        with translated("the memories cannot be written"):
            await self._client.upsert(self._collection, stored, wait=True)

    async def nearest(
        self, vector: DenseVector, *, where: Wanted, limit: int
    ) -> list[tuple[MemoryPoint, float]]:
        """Return the nearest memories that meet a condition, with their cosines, best first."""
        await self._make()
        with translated("the memories cannot be searched"):
            found = await self._client.query_points(
                self._collection,
                query=vector.tolist(),
                using=_DENSE,
                query_filter=_filter(where),
                limit=limit,
                with_payload=True,
            )
        return [
            (from_payload(str(each.id), each.payload or {}), each.score) for each in found.points
        ]

    async def remove(self, *, where: Wanted) -> int:
        """Delete every memory that meets a condition; returns how many there were."""
        only = _filter(where)
        await self._make()
        with translated("the memories cannot be deleted"):
            counted = await self._client.count(self._collection, count_filter=only, exact=True)
            if counted.count:
                await self._client.delete(
                    self._collection, models.FilterSelector(filter=only), wait=True
                )
        return counted.count

    async def close(self) -> None:
        """Close the client."""
        await self._client.close()

    async def _make(self) -> None:
        if self._is_made:
            return
        with translated(f"cannot make the collection {self._collection}"):
            if not await self._client.collection_exists(self._collection):
                params = models.VectorParams(size=self._dimension, distance=models.Distance.COSINE)
                await self._client.create_collection(
                    self._collection, vectors_config={_DENSE: params}
                )
                if self._indexed:
                    await self._client.create_payload_index(
                        self._collection, FACTS, field_schema=models.PayloadSchemaType.KEYWORD
                    )
        self._is_made = True


def _filter(wanted: Wanted) -> models.Filter:
    match wanted:
        case AllOf():
            return models.Filter(must=[_condition(part) for part in wanted.parts])
        case AnyOf():
            return models.Filter(should=[_condition(part) for part in wanted.parts])
        case Not():
            return models.Filter(must_not=[_condition(wanted.part)])
        case _:
            return models.Filter(must=[_condition(wanted)])


def _condition(wanted: Wanted) -> models.Condition:
    match wanted:
        case Fact():
            return models.FieldCondition(key=FACTS, match=models.MatchAny(any=list(wanted.texts)))
        case Bounds():
            bounds = models.Range(
                gt=wanted.above, gte=wanted.at_least, lt=wanted.below, lte=wanted.at_most
            )
            return models.FieldCondition(key=number_key(wanted.name), range=bounds)
        case _:
            return _filter(wanted)
