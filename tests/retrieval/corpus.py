"""A small corpus for the engine's own tests, with vectors made from a fixed seed."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from retrieval.chunk import Chunk, DenseVector, JsonScalar, Occurrence, Point
from retrieval.sparse import Bm25Encoder

DIMENSION = 16
LATE_DIMENSION = 4
SPARSE = Bm25Encoder()
_NAMES = uuid.UUID("7a0c52a6-5f63-4b4e-9e6f-7d1f5b1c2d3e")


def chunk_id(name: str) -> str:
    return str(uuid.uuid5(_NAMES, name))


def place(
    source: str = "guide", *, heading: str = "Intro", labels: Sequence[str] = (), position: int = 0
) -> Occurrence:
    return Occurrence(
        source=source,
        document_id=f"{source}.md",
        source_url=f"https://docs.example/{source}#{position}",
        title=source.title(),
        section_heading=heading,
        parent_heading="",
        position=position,
        labels=tuple(labels),
    )


def chunk(
    name: str,
    text: str,
    *places: Occurrence,
    language: str = "en",
    updated_at: str = "",
    metadata: dict[str, JsonScalar] | None = None,
) -> Chunk:
    return Chunk(
        chunk_id=chunk_id(name),
        text=text,
        text_for_embedding=f"Guide > Intro\n{text}",
        occurrences=places or (place(),),
        language=language,
        updated_at=updated_at,
        metadata=metadata or {},
    )


def vector(seed: int, dimension: int = DIMENSION) -> DenseVector:
    row = np.random.default_rng(seed).normal(size=dimension).astype(np.float32)
    return row / np.float32(np.linalg.norm(row))


def point(made: Chunk, seed: int) -> Point:
    return Point(made, vector(seed), SPARSE.embed_document(made.text_for_embedding))


def points(chunks: Sequence[Chunk]) -> list[Point]:
    return [point(made, seed) for seed, made in enumerate(chunks)]


def with_dense(made: Point, dense: DenseVector) -> Point:
    return replace(made, dense=dense)
