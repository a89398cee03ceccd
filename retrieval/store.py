"""The port to a vector index: what the engine and the ingestion ask of any of them.

Two adapters implement it, ``store_edge`` (embedded) and ``store_qdrant`` (a server or cluster), and
one contract suite holds both to the same answers.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from retrieval.chunk import Chunk, DenseVector, JsonScalar, Matrix, Point, SparseVector


@dataclass(frozen=True, slots=True)
class Range:
    """Bounds on a number or a UTC ISO 8601 time; None leaves a side open."""

    at_least: float | str | None = None
    at_most: float | str | None = None


Condition = JsonScalar | tuple[JsonScalar, ...] | Range


@dataclass(frozen=True, slots=True)
class Filter:
    """What may be found, applied inside every index query.

    Attributes:
        source: Only chunks with an occurrence in this source; empty means any.
        labels: Labels granted to the caller. A chunk is visible when it has a public occurrence or
            one whose every label is granted.
        fields: Field name (``section_heading``, ``language``, ``updated_at``, ``metadata.x``) to an
            equality, an any-of (tuple) or a range.
        chunk_ids: Only these chunks; None means any.
        all_labels: Lift the check of labels. For building and verifying only; nothing that
            answers a caller sets it.
    """

    source: str = ""
    labels: tuple[str, ...] = ()
    fields: tuple[tuple[str, Condition], ...] = ()
    chunk_ids: tuple[str, ...] | None = None
    all_labels: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """A point a list brought, with that list's own number.

    Attributes:
        number: Cosine for the dense list, BM25 with IDF for the sparse list.
    """

    chunk_id: str
    number: float


def list_order(candidate: Candidate) -> tuple[float, str]:
    """Return the key every list is sorted by: the number, largest first, then the chunk id."""
    return -candidate.number, candidate.chunk_id


@dataclass(frozen=True, slots=True)
class StoredPoint:
    """A point read back, payload always, vectors when asked for."""

    chunk: Chunk
    dense: DenseVector | None = None
    sparse: SparseVector | None = None


@dataclass(frozen=True, slots=True)
class CandidateLists:
    """The lists of one batch, each sorted by number then chunk id.

    Attributes:
        parts: By the cosine of the nearest part; without points that have none.
    """

    dense: tuple[Candidate, ...]
    sparse: tuple[Candidate, ...]
    parts: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class Measured:
    """Exact numbers of chosen points, by chunk id: cosine, and BM25 with IDF."""

    dense: dict[str, float]
    sparse: dict[str, float]


class Store(Protocol):
    """One immutable build, open for reading, or being written for the first time."""

    async def write(self, points: Sequence[Point]) -> None:
        """Write points durably.

        Raises:
            VectorError: A vector has the wrong dimension, no length, or NaN; names the chunk.
            IndexUnavailableError: The engine refuses.
        """
        ...

    async def candidates(
        self,
        dense: DenseVector,
        sparse: SparseVector,
        *,
        limit: int,
        where: Filter,
        with_parts: bool = False,
    ) -> CandidateLists:
        """Return the best ``limit`` of each list as one batch, the filter inside the query.

        Args:
            dense: Shape (dimension,), float32, unit length.
            sparse: The query's terms, each weighted by its IDF; may be empty.
            limit: Most candidates of each list.
            where: What may be found.
            with_parts: Also list the points with the nearest parts; the build must have some.
        """
        ...

    async def measure(
        self, dense: DenseVector, sparse: SparseVector, chunk_ids: Sequence[str], *, where: Filter
    ) -> Measured:
        """Return the exact numbers of given points against a query, from the stored vectors.

        Points the filter hides are absent from both; a point without a term of the query is
        absent from ``sparse``.
        """
        ...

    async def late_interaction(
        self, rows: Matrix, chunk_ids: Sequence[str], *, where: Filter
    ) -> dict[str, float]:
        """Return the sum of best matches (MaxSim) of given points, by chunk id.

        Args:
            rows: One row per token of the query, shape (n_tokens, late_dimension).
            chunk_ids: Points to compare; those the filter hides are absent from the result.
            where: What may be found.

        Raises:
            IndexUnavailableError: The build has no such vectors.
        """
        ...

    async def part_cosines(
        self, dense: DenseVector, chunk_ids: Sequence[str], *, where: Filter
    ) -> dict[str, float]:
        """Return the cosine of the nearest part of given points, by chunk id.

        Args:
            dense: The query, shape (dimension,), float32, unit length.
            chunk_ids: Points to compare; absent from the result are those the filter hides and
                those that have no parts.
            where: What may be found.

        Raises:
            IndexUnavailableError: The build was made without parts.
        """
        ...

    async def read(
        self, chunk_ids: Sequence[str], *, where: Filter, with_vectors: bool = False
    ) -> dict[str, StoredPoint]:
        """Return the visible ones of these points."""
        ...

    def scan(self, *, where: Filter) -> AsyncIterator[StoredPoint]:
        """Yield every visible point, in id order, without vectors."""
        ...

    async def count(self, *, where: Filter) -> int:
        """Return the exact number of visible points."""
        ...

    async def close(self) -> None:
        """Release the engine; further calls raise IndexUnavailableError."""
        ...
