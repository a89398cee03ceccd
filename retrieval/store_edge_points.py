"""A point as the embedded engine holds it, and back."""

from __future__ import annotations

from typing import cast

import numpy as np
import qdrant_edge as edge

from retrieval.chunk import Point, SparseVector
from retrieval.errors import VectorError
from retrieval.payload import checked_vector, from_payload, seen_by, to_payload
from retrieval.store import Filter, StoredPoint

DENSE = "dense"
SPARSE = "sparse"
LATE = "late"
PARTS = "parts"
VECTORS = [DENSE, SPARSE]


def several(dimension: int) -> edge.EdgeVectorParams:
    """Return what a point with several vectors of one kind needs: they match by their best."""
    return edge.EdgeVectorParams(
        size=dimension,
        distance=edge.Distance.Cosine,
        multivector_config=edge.MultiVectorConfig(edge.MultiVectorComparator.MaxSim),
        memory=edge.Memory.Cold,
    )


def to_stored(point: Point, dimension: int) -> edge.Point:
    """Return a point with all its vectors.

    Raises:
        VectorError: A vector or the id is not fit to be written; names the chunk.
    """
    vectors: dict[str, edge.NamedVector] = {
        DENSE: checked_vector(point, dimension).tolist(),
        SPARSE: edge.SparseVector(list(point.sparse.indices), list(point.sparse.values)),
    }
    if point.late is not None:
        vectors[LATE] = point.late.tolist()
    if point.parts is not None:
        vectors[PARTS] = point.parts.tolist()
    try:
        return edge.Point(point.chunk.chunk_id, vectors, to_payload(point.chunk))
    except ValueError as error:
        raise VectorError(f"chunk {point.chunk.chunk_id!r}: {error}") from error


def from_record(record: edge.Record, where: Filter) -> StoredPoint:
    """Return a point read back, with the occurrences that a filter lets through."""
    chunk = seen_by(from_payload(str(record.id), record.payload or {}), where)
    if not record.vector:
        return StoredPoint(chunk)
    vectors = cast("dict[str, object]", record.vector)
    terms = cast("edge.SparseVector", vectors[SPARSE])
    return StoredPoint(
        chunk,
        np.asarray(vectors[DENSE], dtype=np.float32),
        SparseVector(tuple(terms.indices), tuple(terms.values)),
    )
