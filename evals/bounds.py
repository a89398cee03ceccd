"""Exact bounds on a rate that was counted.

A threshold that let none of n unanswerable questions through has not a leak rate of zero: it is
below ``clopper_pearson_upper(0, n)`` at 95% confidence, and no more can be said. With 30 questions
that is 9.5%; to certify 5% takes 59.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

CONFIDENCE = 0.95


def clopper_pearson_upper(errors: int, n: int, confidence: float = CONFIDENCE) -> float:
    """Return the one-sided exact upper bound on a rate after ``errors`` in ``n`` trials.

    It is the rate at which so few errors would be seen with probability 1 - confidence
    (Clopper and Pearson 1934); 1.0 for n = 0.
    """
    if errors >= n:
        return 1.0
    low, high = errors / n, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if _at_most(errors, n, middle) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def smallest_certifiable(n: int, confidence: float = CONFIDENCE) -> float:
    """Return the best bound that n questions can give: the one for no error at all."""
    return clopper_pearson_upper(0, n, confidence)


def needed_for(alpha: float, confidence: float = CONFIDENCE) -> int:
    """Return how many questions without an error certify a rate of alpha, alpha in (0, 1)."""
    return math.ceil(math.log(1 - confidence) / math.log(1 - alpha))


def learn_then_test(
    thresholds: Sequence[float],
    negatives: Sequence[float],
    alpha: float,
    confidence: float = CONFIDENCE,
) -> float | None:
    """Return the loosest threshold whose leak rate is certified to be at most alpha.

    Fixed-sequence testing (Angelopoulos et al., "Learn then Test", 2021): thresholds are tried from
    the strictest down and the walk ends at the first that fails, so that trying many costs no
    confidence. None when even the strictest fails.

    Args:
        thresholds: Candidates, any order, chosen without looking at ``negatives``.
        negatives: Probabilities of unanswerable questions used for nothing else, in [0, 1].
        alpha: Largest leak rate allowed, in (0, 1).
        confidence: Probability that the promise holds.
    """
    certified: float | None = None
    for threshold in sorted(thresholds, reverse=True):
        leaks = sum(probability >= threshold for probability in negatives)
        if clopper_pearson_upper(leaks, len(negatives), confidence) > alpha:
            break
        certified = threshold
    return certified


def _at_most(errors: int, n: int, rate: float) -> float:
    """Return P(Binomial(n, rate) <= errors)."""
    return math.fsum(
        math.comb(n, count) * rate**count * (1 - rate) ** (n - count) for count in range(errors + 1)
    )
