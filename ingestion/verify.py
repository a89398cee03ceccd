"""Does a build hold what its manifest says, whole and readable?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ingestion.errors import VerificationError
from retrieval.chunk import Chunk
from retrieval.manifest import Manifest
from retrieval.store import Filter, Store, StoredPoint

_BATCH = 256
_MOST_PROBLEMS = 10


@dataclass(frozen=True, slots=True)
class Expectation:
    """How many chunks a build should hold, both ends included."""

    at_least: int
    at_most: int

    @classmethod
    def parse(cls, text: str) -> Expectation:
        """Read ``MIN:MAX``.

        Raises:
            VerificationError: The text is no such range.
        """
        low, separator, high = text.partition(":")
        try:
            expectation = cls(int(low), int(high))
        except ValueError as error:
            raise VerificationError(f"{text!r} is not MIN:MAX") from error
        if not separator or not 0 <= expectation.at_least <= expectation.at_most:
            raise VerificationError(f"{text!r} is not MIN:MAX with 0 <= MIN <= MAX")
        return expectation


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found.

    Attributes:
        problems: Empty when the build is whole; at most ten of the chunks' own are listed.
    """

    build: str
    chunks: int
    dimension: int
    problems: tuple[str, ...]

    def require(self) -> None:
        """Raise when anything is wrong.

        Raises:
            VerificationError: Lists every problem.
        """
        if self.problems:
            raise VerificationError(f"build {self.build}: " + "; ".join(self.problems))


def check_expected(build: str, chunks: int, expect: Expectation | None) -> None:
    """Refuse a build of another size than expected.

    Raises:
        VerificationError: It has more or fewer chunks.
    """
    if expect and not expect.at_least <= chunks <= expect.at_most:
        raise VerificationError(
            f"build {build}: holds {chunks} chunks, not {expect.at_least} to {expect.at_most}"
        )


async def verify(
    store: Store, manifest: Manifest, *, expect: Expectation | None = None
) -> Verification:
    """Check a build, chunks of every label, against its manifest and an expected size."""
    everything = Filter(all_labels=True)
    count = await store.count(where=everything)
    problems: list[str] = []
    if count != manifest.chunks:
        problems.append(f"holds {count} chunks, its manifest says {manifest.chunks}")
    if count == 0:
        problems.append("holds no chunks at all")
    if expect and not expect.at_least <= count <= expect.at_most:
        problems.append(f"holds {count} chunks, not {expect.at_least} to {expect.at_most}")
    found = await _chunk_problems(store, manifest.stamp.dimension, everything)
    return Verification(
        manifest.build, count, manifest.stamp.dimension, tuple(problems + found[:_MOST_PROBLEMS])
    )


async def _chunk_problems(store: Store, dimension: int, where: Filter) -> list[str]:
    problems: list[str] = []
    waiting: list[str] = []
    async for point in store.scan(where=where):
        problems += _text_problems(point.chunk)
        waiting.append(point.chunk.chunk_id)
        if len(waiting) == _BATCH:
            problems += await _vector_problems(store, waiting, dimension, where)
            waiting = []
    if waiting:
        problems += await _vector_problems(store, waiting, dimension, where)
    return problems


def _text_problems(chunk: Chunk) -> list[str]:
    problems: list[str] = []
    if not chunk.text.strip():
        problems.append(f"chunk {chunk.chunk_id} has no text")
    if not chunk.occurrences:
        problems.append(f"chunk {chunk.chunk_id} has no place")
    problems.extend(
        f"chunk {chunk.chunk_id} has no {name}"
        for place in chunk.occurrences
        for name, value in (
            ("source_url", place.source_url),
            ("heading", place.section_heading),
        )
        if not value
    )
    return problems


async def _vector_problems(
    store: Store, chunk_ids: list[str], dimension: int, where: Filter
) -> list[str]:
    points = await store.read(chunk_ids, where=where, with_vectors=True)
    return [
        f"chunk {chunk_id} {problem}"
        for chunk_id in chunk_ids
        if (problem := _vector_problem(points.get(chunk_id), dimension))
    ]


def _vector_problem(point: StoredPoint | None, dimension: int) -> str:
    if point is None or point.dense is None:
        return "has no vector"
    if point.dense.shape != (dimension,):
        return f"has a vector of shape {point.dense.shape}, not ({dimension},)"
    if not np.isfinite(point.dense).all() or not point.dense.any():
        return "has a vector without direction"
    return ""
