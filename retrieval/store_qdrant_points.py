"""A point as a Qdrant server holds it, and back. Loads the client, as ``store_qdrant`` does."""

from __future__ import annotations

from typing import cast

import numpy as np
from qdrant_client import models

from retrieval.chunk import Point, SparseVector
from retrieval.payload import checked_vector, from_payload, seen_by, to_payload
from retrieval.store import Filter, StoredPoint

DENSE = "dense"
SPARSE = "sparse"
LATE = "late"
PARTS = "parts"
VECTORS = [DENSE, SPARSE]


def several(dimension: int, *, has_graph: bool) -> models.VectorParams:
    """Return what a point with several vectors of one kind needs: they match by their best.

    Args:
        dimension: Length of each.
        has_graph: False where only few candidates are ever compared, so that none is needed.
    """
    return models.VectorParams(
        size=dimension,
        distance=models.Distance.COSINE,
        multivector_config=models.MultiVectorConfig(
            comparator=models.MultiVectorComparator.MAX_SIM
        ),
        hnsw_config=None if has_graph else models.HnswConfigDiff(m=0),
    )


def terms(sparse: SparseVector) -> models.SparseVector:
    """Return a sparse vector as the client takes it."""
    return models.SparseVector(indices=list(sparse.indices), values=list(sparse.values))


def to_stored(point: Point, dimension: int) -> models.PointStruct:
    """Return a point with all its vectors.

    Raises:
        VectorError: A vector is not fit to be written; names the chunk.
    """
    vectors: dict[str, models.Vector] = {
        DENSE: checked_vector(point, dimension).tolist(),
        SPARSE: terms(point.sparse),
    }
    if point.late is not None:
        vectors[LATE] = point.late.tolist()
    if point.parts is not None:
        vectors[PARTS] = point.parts.tolist()
    return models.PointStruct(
        id=point.chunk.chunk_id, vector=vectors, payload=to_payload(point.chunk)
    )


def from_record(record: models.Record, where: Filter) -> StoredPoint:
    """Return a point read back, with the occurrences that a filter lets through."""
    chunk = seen_by(from_payload(str(record.id), record.payload or {}), where)
    if not record.vector:
        return StoredPoint(chunk)
    vectors = cast("dict[str, object]", record.vector)
    held = cast("models.SparseVector", vectors[SPARSE])
    return StoredPoint(
        chunk,
        np.asarray(vectors[DENSE], dtype=np.float32),
        SparseVector(tuple(held.indices), tuple(held.values)),
    )
