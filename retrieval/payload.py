"""A chunk as an index stores it, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import cast

import numpy as np

from retrieval.access import access_of, accesses_of
from retrieval.chunk import Chunk, DenseVector, JsonScalar, Occurrence, Point
from retrieval.conditions import FLAGS_FIELD, flag_key, visible_occurrences
from retrieval.errors import VectorError
from retrieval.store import Filter

# Fields with an index of their own in engines that have them, by kind.
KEYWORD_FIELDS = (
    "label_keys",
    "access_keys",
    "language",
    "occurrences[].section_heading",
    "occurrences[].access_key",
)
TIME_FIELDS = ("updated_at",)

Payload = dict[str, object]


def to_payload(chunk: Chunk) -> Payload:
    """Return everything of a chunk but its vectors, with the keywords that filters need."""
    accesses = sorted(accesses_of(chunk))
    payload: Payload = {
        "text": chunk.text,
        "text_for_embedding": chunk.text_for_embedding,
        "occurrences": [
            {
                **asdict(occurrence),
                "labels": list(occurrence.labels),
                "label_key": access_of(occurrence).label_key,
                "access_key": access_of(occurrence).key,
            }
            for occurrence in chunk.occurrences
        ],
        "label_keys": sorted({access.label_key for access in accesses}),
        "access_keys": [access.key for access in accesses],
        "metadata": dict(chunk.metadata),
        FLAGS_FIELD: sorted(
            flag_key(f"metadata.{name}", is_set=value)
            for name, value in chunk.metadata.items()
            if isinstance(value, bool)
        ),
    }
    if chunk.language:
        payload["language"] = chunk.language
    if chunk.updated_at:
        payload["updated_at"] = chunk.updated_at
    return payload


def from_payload(chunk_id: str, payload: Mapping[str, object]) -> Chunk:
    """Return the chunk a payload was made from."""
    occurrences = cast("list[dict[str, object]]", payload["occurrences"])
    return Chunk(
        chunk_id=chunk_id,
        text=str(payload["text"]),
        text_for_embedding=str(payload["text_for_embedding"]),
        occurrences=tuple(_occurrence(fields) for fields in occurrences),
        language=str(payload.get("language", "")),
        updated_at=str(payload.get("updated_at", "")),
        metadata=cast("dict[str, JsonScalar]", payload.get("metadata") or {}),
    )


def seen_by(chunk: Chunk, where: Filter) -> Chunk:
    """Return the chunk with only those occurrences that a filter lets through."""
    visible = visible_occurrences(chunk, where)
    return chunk if len(visible) == len(chunk.occurrences) else replace(chunk, occurrences=visible)


def checked_vector(point: Point, dimension: int) -> DenseVector:
    """Return a point's dense vector at unit length.

    Raises:
        VectorError: It has the wrong dimension, no length, or a number that is not finite.
    """
    vector = np.asarray(point.dense, dtype=np.float32)
    name = f"chunk {point.chunk.chunk_id}"
    if vector.shape != (dimension,):
        raise VectorError(f"{name}: vector of shape {vector.shape}, the index takes {dimension}")
    if not np.isfinite(vector).all():
        raise VectorError(f"{name}: the vector holds a number that is not finite")
    length = float(np.linalg.norm(vector))
    if length < np.finfo(np.float32).tiny:
        raise VectorError(f"{name}: the vector has no length")
    weights = np.asarray(point.sparse.values, dtype=np.float32)
    if len(point.sparse.indices) != len(weights) or not np.isfinite(weights).all():
        raise VectorError(f"{name}: the sparse vector is malformed")
    if point.late is not None and not (np.isfinite(point.late).all() and point.late.size):
        raise VectorError(f"{name}: the late-interaction vectors are malformed")
    if point.parts is not None and not (
        point.parts.shape[1:] == (dimension,)
        and point.parts.size
        and np.isfinite(point.parts).all()
    ):
        raise VectorError(f"{name}: the vectors of its parts are malformed")
    if not point.chunk.occurrences:
        raise VectorError(f"{name}: the chunk stands nowhere")
    return vector / np.float32(length)


def _occurrence(fields: Mapping[str, object]) -> Occurrence:
    def text(name: str) -> str | None:
        value = fields.get(name)
        return None if value is None else str(value)

    return Occurrence(
        source=str(fields["source"]),
        document_id=str(fields["document_id"]),
        source_url=str(fields["source_url"]),
        title=str(fields["title"]),
        section_heading=str(fields["section_heading"]),
        parent_heading=str(fields["parent_heading"]),
        position=cast("int", fields["position"]),
        labels=tuple(cast("list[str]", fields["labels"])),
        previous_chunk_id=text("previous_chunk_id"),
        next_chunk_id=text("next_chunk_id"),
    )
