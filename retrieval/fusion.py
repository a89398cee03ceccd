"""Joining the dense and the sparse list into one order. Pure functions, chosen by name.

Both read the union of the two lists with both exact numbers of every candidate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

# Rounding alone gives a spread of about 1e-8 to numbers that are all the same.
_NO_SPREAD = 1e-14

FusionName = Literal["zscore", "rrf"]


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with the numbers that fusion reads.

    Attributes:
        cosine: Raw dense cosine, in [-1, 1].
        bm25: BM25 with IDF, >= 0; zero when it has no word of the query.
        dense_rank: Place in the dense list from 1; None when that list did not bring it.
        sparse_rank: Likewise in the sparse list.
        late: Sum of best token matches (MaxSim); None when late interaction is not used.
        part_rank: Place in the list of nearest parts; None when that list did not bring it.
        part_cosine: Cosine of its nearest part, in [-1, 1]; its own where it has no parts; None
            counts as no number at all.
    """

    chunk_id: str
    cosine: float
    bm25: float
    dense_rank: int | None
    sparse_rank: int | None
    late: float | None = None
    part_cosine: float | None = None
    part_rank: int | None = None


@dataclass(frozen=True, slots=True)
class Fused:
    """A candidate with its place in the joined order.

    Attributes:
        rank: From 1.
        rrf: Sum of w / (k + rank) over the lists that brought it.
        zscore: Weighted sum of the z-scores of the candidates' numbers over the union.
    """

    scored: Scored
    rank: int
    rrf: float
    zscore: float


def fuse(
    candidates: Sequence[Scored],
    *,
    by: FusionName = "zscore",
    dense_weight: float = 0.5,
    sparse_weight: float = 0.5,
    late_weight: float = 0.0,
    part_weight: float = 0.0,
    rrf_k: int = 60,
) -> list[Fused]:
    """Return the candidates in joined order, best first, ties by chunk id.

    Args:
        candidates: The union of the lists, each chunk once.
        by: Which of the two values orders them; both are kept on the result.
        dense_weight: Weight of the dense list, >= 0.
        sparse_weight: Weight of the sparse list, >= 0.
        late_weight: Weight of late interaction, >= 0; without its numbers it has no effect.
        part_weight: Weight of the nearest part, >= 0; without its numbers it has no effect.
        rrf_k: Damping of the first ranks in reciprocal rank fusion.
    """
    late = {c.chunk_id: c.late for c in candidates if c.late is not None}
    part = {c.chunk_id: c.part_cosine for c in candidates if c.part_cosine is not None}
    late_rank, part_rank = _ranks(late), _ranks(part)
    rrf = {
        c.chunk_id: reciprocal_ranks(
            (dense_weight, c.dense_rank),
            (sparse_weight, c.sparse_rank),
            (late_weight, late_rank.get(c.chunk_id)),
            (part_weight, part_rank.get(c.chunk_id)),
            k=rrf_k,
        )
        for c in candidates
    }
    cosine_z = z_scores({c.chunk_id: c.cosine for c in candidates})
    bm25_z = z_scores({c.chunk_id: c.bm25 for c in candidates})
    late_z, part_z = z_scores(late), z_scores(part)
    zscore = {
        c.chunk_id: dense_weight * cosine_z[c.chunk_id]
        + sparse_weight * bm25_z[c.chunk_id]
        + late_weight * late_z.get(c.chunk_id, 0.0)
        + part_weight * part_z.get(c.chunk_id, 0.0)
        for c in candidates
    }
    leading = rrf if by == "rrf" else zscore
    ordered = sorted(candidates, key=lambda c: (-leading[c.chunk_id], c.chunk_id))
    return [
        Fused(c, rank, rrf[c.chunk_id], zscore[c.chunk_id]) for rank, c in enumerate(ordered, 1)
    ]


def _ranks(numbers: Mapping[str, float]) -> dict[str, int]:
    order = sorted(numbers, key=lambda chunk_id: (-numbers[chunk_id], chunk_id))
    return {chunk_id: rank for rank, chunk_id in enumerate(order, 1)}


def reciprocal_ranks(*lists: tuple[float, int | None], k: int) -> float:
    """Return the sum of w / (k + rank) over the lists that brought a candidate.

    Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion", SIGIR 2009, where k = 60.

    Args:
        lists: Weight of each list and the candidate's place in it from 1, None when not in it.
        k: Damping of the first ranks.
    """
    return sum(weight / (k + rank) for weight, rank in lists if rank is not None)


def z_scores(numbers: Mapping[str, float]) -> dict[str, float]:
    """Return (x - mean) / standard deviation; all zero when there is no spread."""
    if not numbers:
        return {}
    mean = math.fsum(numbers.values()) / len(numbers)
    variance = math.fsum((x - mean) ** 2 for x in numbers.values()) / len(numbers)
    if variance < _NO_SPREAD:
        return dict.fromkeys(numbers, 0.0)
    deviation = math.sqrt(variance)
    return {key: (x - mean) / deviation for key, x in numbers.items()}
