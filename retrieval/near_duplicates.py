"""Leaving out passages that repeat a better one, and too many from one source. Pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from retrieval.chunk import DenseVector
from retrieval.search import Filtered


@dataclass(frozen=True, slots=True)
class Selection:
    """What stays and what was left out, each in order."""

    selected: tuple[str, ...]
    filtered: tuple[Filtered, ...]


def remove_near_duplicates(
    order: Sequence[str],
    vectors: Mapping[str, DenseVector],
    *,
    threshold_cosine: float,
    protected: str = "",
) -> Selection:
    """Keep the first of each group of near-identical passages.

    Args:
        order: Chunk ids, best first.
        vectors: A unit vector for each of them.
        threshold_cosine: Two passages at or above it are the same for a reader; above 1 turns
            the removal off.
        protected: A chunk that must stay: where it repeats better ones, it takes the place of the
            first of them.
    """
    selected: list[str] = []
    filtered: list[Filtered] = []
    for chunk_id in order:
        near = [
            (kept, cosine)
            for kept in selected
            if (cosine := _cosine(vectors[chunk_id], vectors[kept])) >= threshold_cosine
        ]
        if not near:
            selected.append(chunk_id)
        elif chunk_id == protected:
            selected[selected.index(near[0][0])] = chunk_id
            for kept, cosine in near:
                if kept in selected:
                    selected.remove(kept)
                filtered.append(Filtered(kept, "near_duplicate", chunk_id, cosine))
        else:
            kept, cosine = max(near, key=lambda pair: pair[1])
            filtered.append(Filtered(chunk_id, "near_duplicate", kept, cosine))
    return Selection(tuple(selected), tuple(filtered))


def cap_sources(
    order: Sequence[str], sources: Mapping[str, str], *, most: int, protected: str = ""
) -> Selection:
    """Keep at most so many passages of one source, so that no single one fills the answer.

    Args:
        order: Chunk ids, best first.
        sources: The source of each.
        most: Passages of one source; 0 means no cap.
        protected: A chunk that stays whatever its source has already.
    """
    if most <= 0:
        return Selection(tuple(order), ())
    taken: Counter[str] = Counter()
    selected: list[str] = []
    filtered: list[Filtered] = []
    for chunk_id in order:
        source = sources[chunk_id]
        if taken[source] >= most and chunk_id != protected:
            filtered.append(Filtered(chunk_id, "source_cap"))
            continue
        taken[source] += 1
        selected.append(chunk_id)
    return Selection(tuple(selected), tuple(filtered))


def _cosine(left: DenseVector, right: DenseVector) -> float:
    return float(min(1.0, max(-1.0, np.dot(left, right))))
