"""Percentile bootstrap: how far a figure moves when other questions had been drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure with its 95% bounds."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        """Write it as a table cell."""
        return f"{self.value:.3f} ({self.low:.2f}-{self.high:.2f})"


def interval(
    statistic: Callable[[NDArray[np.intp]], float], n: int, *, resamples: int = RESAMPLES
) -> Interval:
    """Return the statistic with its 95% percentile interval over questions.

    Args:
        statistic: Takes question indices, shape (n,), with repetition, and returns the figure.
        n: Number of questions, from 1.
        resamples: Number of draws; the generator's seed is fixed, so a report repeats exactly.
    """
    generator = np.random.default_rng(20240501)
    draws = np.array([statistic(generator.integers(0, n, n)) for _ in range(resamples)])
    low, high = np.percentile(draws, [2.5, 97.5])
    return Interval(statistic(np.arange(n)), float(low), float(high))
