"""The unit of evidence, as it is embedded and as it is stored."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

JsonScalar: TypeAlias = str | int | float | bool | None
DenseVector: TypeAlias = NDArray[np.float32]
Matrix: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class SparseVector:
    """A sparse vector: term ids and weights, the same length, ids unique.

    Attributes:
        indices: Term ids, unsigned 32-bit.
        values: Of a passage, BM25 term weights without IDF; of a query, the IDF of each term.
    """

    indices: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One place where a text stands.

    A text that stands in several places is embedded and stored once with all its occurrences, so
    that removing one source removes an occurrence and never another source's text.

    Attributes:
        source: Name of the source, the unit of filtering and deletion.
        document_id: Document within the source.
        position: Place of the chunk within the document, from 0.
        labels: Access labels; empty means public.
    """

    source: str
    document_id: str
    source_url: str
    title: str
    section_heading: str
    parent_heading: str
    position: int
    labels: tuple[str, ...] = ()
    previous_chunk_id: str | None = None
    next_chunk_id: str | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage with its places.

    Attributes:
        chunk_id: UUIDv5 of source, heading path and content: the same input gives the same id.
        text: The exact source text, which is shown and cited.
        text_for_embedding: Header and cleaned text, which is embedded and indexed by words.
        occurrences: At least one; the first is the one shown unless a filter excludes it.
        language: ISO 639-1 code, empty when unknown.
        updated_at: UTC, ISO 8601, empty when the source does not say.
        metadata: Free values of the document (page, definition, times).
        parts: What is embedded of each of its parts, header included; empty for a passage of one
            part. Needed to write a build, not stored in it.
    """

    chunk_id: str
    text: str
    text_for_embedding: str
    occurrences: tuple[Occurrence, ...]
    language: str = ""
    updated_at: str = ""
    metadata: dict[str, JsonScalar] = field(default_factory=dict[str, JsonScalar])
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Point:
    """A chunk with its vectors, ready to be written.

    Attributes:
        dense: Shape (dimension,), float32, unit length.
        sparse: BM25 weights of ``text_for_embedding``.
        late: One row per token for late interaction, shape (n_tokens, late_dimension), float32,
            unit rows; None when the build has none.
        parts: One row per part of the passage, shape (n_parts, dimension), float32, unit rows;
            None for a passage of one part, whose only part is itself.
    """

    chunk: Chunk
    dense: DenseVector
    sparse: SparseVector
    late: Matrix | None = None
    parts: Matrix | None = None


def only_ids(given: Sequence[str]) -> list[str]:
    """Return what can be the id of a chunk, each once, in order: no store has to read the rest."""
    return [text for text in dict.fromkeys(given) if _UUID.fullmatch(text)]
