"""Where agents' memories are kept: a mutable collection of its own, never searched for evidence.

A memory is found by conditions on its facts, which are short texts such as ``topic="build"``, and
on its numbers. Both adapters translate this one small tree into one filter inside the query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from retrieval.chunk import DenseVector


@dataclass(frozen=True, slots=True)
class Fact:
    """At least one of these texts is among a memory's facts."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bounds:
    """A number of a memory lies within bounds; None leaves a side open."""

    name: str
    above: float | None = None
    at_least: float | None = None
    below: float | None = None
    at_most: float | None = None


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every part holds."""

    parts: tuple[Wanted, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one part holds."""

    parts: tuple[Wanted, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The part does not hold."""

    part: Wanted


Wanted: TypeAlias = "Fact | Bounds | AllOf | AnyOf | Not"


@dataclass(frozen=True, slots=True)
class MemoryPoint:
    """One stored memory.

    Attributes:
        memory_id: A UUID.
        vector: Of the content, shape (dimension,), unit length; empty when it was not read.
        facts: What it is found by.
        numbers: Likewise, by name.
        stored: What comes back with it, as text.
    """

    memory_id: str
    facts: tuple[str, ...]
    numbers: Mapping[str, tuple[float, ...]]
    stored: str
    vector: DenseVector | None = field(default=None, compare=False)


class MemoryStore(Protocol):
    """A collection of memories. Every method raises ``IndexUnavailableError``."""

    async def put(self, points: Sequence[MemoryPoint]) -> None:
        """Store memories with their vectors, durably."""
        ...

    async def nearest(
        self, vector: DenseVector, *, where: Wanted, limit: int
    ) -> list[tuple[MemoryPoint, float]]:
        """Return the nearest memories that meet a condition, with their cosines, best first."""
        ...

    async def remove(self, *, where: Wanted) -> int:
        """Delete every memory that meets a condition; returns how many there were."""
        ...

    async def close(self) -> None:
        """Release what the store holds."""
        ...
