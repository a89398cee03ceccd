"""In how many passages each term stands: what IDF is computed from, exactly and per caller.

Passages are counted in groups that share the same accesses. What a caller may see is a union of
whole groups, so that its document frequencies are sums: neither an IDF nor a "never seen" word
tells anything about passages that are hidden from it.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from retrieval.access import Access, accesses_of
from retrieval.chunk import Point


@dataclass(frozen=True, slots=True)
class TermGroup:
    """Passages that share the same accesses.

    Attributes:
        chunks: How many they are.
        terms: Term ids, ascending, uint32.
        counts: Passages each term stands in, uint32.
    """

    accesses: tuple[Access, ...]
    chunks: int
    terms: NDArray[np.uint32]
    counts: NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class TermFrequencies:
    """Document frequencies over the passages that one caller may see.

    Attributes:
        chunks: Number of those passages.
    """

    chunks: int
    groups: tuple[TermGroup, ...]

    def frequency(self, term_id: int) -> int:
        """Return the number of passages that contain a term."""
        total = 0
        for group in self.groups:
            place = int(np.searchsorted(group.terms, term_id))
            if place < len(group.terms) and group.terms[place] == term_id:
                total += int(group.counts[place])
        return total

    def idf(self, term_id: int) -> float:
        """Return ln(1 + (N - n + 0.5) / (n + 0.5)), largest for a term never seen."""
        frequency = self.frequency(term_id)
        return math.log(1.0 + (self.chunks - frequency + 0.5) / (frequency + 0.5))


@dataclass(frozen=True, slots=True)
class TermStatistics:
    """All groups of a build."""

    groups: tuple[TermGroup, ...]

    @property
    def accesses(self) -> frozenset[Access]:
        """Every access that occurs in the build."""
        return frozenset(access for group in self.groups for access in group.accesses)

    def visible(self, labels: Iterable[str], *, all_labels: bool = False) -> TermFrequencies:
        """Return the frequencies over what a caller with these labels may see."""
        held = frozenset(labels)
        groups = tuple(
            group
            for group in self.groups
            if all_labels or any(held.issuperset(access.labels) for access in group.accesses)
        )
        return TermFrequencies(sum(group.chunks for group in groups), groups)

    def to_bytes(self) -> bytes:
        """Return one self-contained file content."""
        names = [
            [[access.source, *access.labels] for access in group.accesses] for group in self.groups
        ]
        arrays: dict[str, NDArray[np.generic]] = {
            "names": np.frombuffer(json.dumps(names).encode(), dtype=np.uint8),
            "chunks": np.asarray([group.chunks for group in self.groups], dtype=np.uint32),
        }
        for number, group in enumerate(self.groups):
            arrays[f"terms{number}"] = group.terms
            arrays[f"counts{number}"] = group.counts
        buffer = io.BytesIO()
        np.savez_compressed(buffer, allow_pickle=False, **arrays)
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> TermStatistics:
        """Return what ``to_bytes`` wrote.

        Raises:
            ValueError: The content is damaged.
        """
        try:
            return cls(cls._groups(content))
        except (OSError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise ValueError(f"the term statistics are damaged: {error}") from error

    @staticmethod
    def _groups(content: bytes) -> tuple[TermGroup, ...]:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            names = json.loads(bytes(arrays["names"]))
            return tuple(
                TermGroup(
                    tuple(Access(source, tuple(labels)) for source, *labels in accesses),
                    int(arrays["chunks"][number]),
                    arrays[f"terms{number}"],
                    arrays[f"counts{number}"],
                )
                for number, accesses in enumerate(names)
            )


@dataclass(slots=True)
class TermCounter:
    """Counts terms while a build is written."""

    _chunks: Counter[frozenset[Access]] = field(default_factory=Counter[frozenset[Access]])
    _terms: dict[frozenset[Access], Counter[int]] = field(
        default_factory=dict[frozenset[Access], Counter[int]]
    )

    def add(self, points: Sequence[Point]) -> None:
        """Count the terms of these points, each once a point."""
        for point in points:
            group = accesses_of(point.chunk)
            self._chunks[group] += 1
            self._terms.setdefault(group, Counter()).update(point.sparse.indices)

    def result(self) -> TermStatistics:
        """Return the statistics of everything added, groups in a fixed order."""
        groups: list[TermGroup] = []
        for accesses in sorted(self._chunks, key=sorted):
            pairs = sorted(self._terms[accesses].items())
            terms = np.asarray([term for term, _ in pairs], dtype=np.uint32)
            counts = np.asarray([count for _, count in pairs], dtype=np.uint32)
            groups.append(TermGroup(tuple(sorted(accesses)), self._chunks[accesses], terms, counts))
        return TermStatistics(tuple(groups))
