"""Measures of a ranking against labels.

Precision and recall are averaged over questions first and F1 is of those two averages, as the
published figures on these sets are. The reciprocal rank is cut at k. Pass@n is the mean share of a
question's labelled sections among the first n, again as published. nDCG comes from ``pytrec_eval``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytrec_eval  # pyright: ignore[reportMissingTypeStubs]
from numpy.typing import NDArray

Rows = NDArray[np.float64]

PASS_CUTS = (5, 10, 20)
NDCG_CUT = 10


@dataclass(frozen=True, slots=True)
class Ranked:
    """One question's ranking of section ids, best first, without repetition."""

    question_id: str
    ranking: tuple[str, ...]
    relevant: frozenset[str]


@dataclass(frozen=True, slots=True)
class Measured:
    """Per-question values, each of shape (n_questions,), float64 in [0, 1]."""

    precision: Rows
    recall: Rows
    reciprocal_rank: Rows
    hit: Rows
    ndcg_at_10: Rows
    pass_at: dict[int, Rows]


def measure(ranked: Sequence[Ranked], k: int) -> Measured:
    """Measure each ranking at cut-off k.

    Args:
        ranked: At least one, each with at least one relevant id.
        k: From 1.
    """
    return Measured(
        precision=np.array([_precision(one, k) for one in ranked]),
        recall=np.array([_recall(one, k) for one in ranked]),
        reciprocal_rank=np.array([_reciprocal_rank(one, k) for one in ranked]),
        hit=np.array([float(_recall(one, k) > 0) for one in ranked]),
        ndcg_at_10=_ndcg(ranked),
        pass_at={cut: np.array([_recall(one, cut) for one in ranked]) for cut in PASS_CUTS},
    )


def f1_of_means(precision: Rows, recall: Rows) -> float:
    """Return the harmonic mean of the two averages, 0 when both are 0."""
    p, r = float(np.mean(precision)), float(np.mean(recall))
    return 2 * p * r / (p + r) if p + r else 0.0


def _found(one: Ranked, k: int) -> int:
    return sum(section in one.relevant for section in one.ranking[:k])


def _precision(one: Ranked, k: int) -> float:
    shown = len(one.ranking[:k])
    return _found(one, k) / shown if shown else 0.0


def _recall(one: Ranked, k: int) -> float:
    return _found(one, k) / len(one.relevant)


def _reciprocal_rank(one: Ranked, k: int) -> float:
    places = (place for place, section in enumerate(one.ranking[:k], 1) if section in one.relevant)
    return 1.0 / next(places, float("inf"))


def _ndcg(ranked: Sequence[Ranked]) -> Rows:
    name = f"ndcg_cut_{NDCG_CUT}"
    labels = {one.question_id: dict.fromkeys(one.relevant, 1) for one in ranked}
    runs = {
        one.question_id: {
            section: float(len(one.ranking) - place) for place, section in enumerate(one.ranking)
        }
        for one in ranked
    }
    evaluator = pytrec_eval.RelevanceEvaluator(labels, {f"ndcg_cut.{NDCG_CUT}"})
    results: dict[str, dict[str, float]] = evaluator.evaluate(runs)
    return np.array([results.get(one.question_id, {}).get(name, 0.0) for one in ranked])
