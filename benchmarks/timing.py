"""Medians and spreads of measured times. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np


@dataclass(frozen=True, slots=True)
class Times:
    """What is kept of many measured times, all in milliseconds.

    Attributes:
        n: How many there were.
        low: First quartile.
        high: Third quartile.
    """

    n: int
    p50: float
    p99: float
    low: float
    high: float


def summarise(milliseconds: Sequence[float]) -> Times:
    """Return median, 99th percentile and quartiles.

    Raises:
        ValueError: There are none.
    """
    if not milliseconds:
        raise ValueError("nothing was measured")
    values = np.asarray(milliseconds, dtype=np.float64)
    low, middle, high, last = (float(v) for v in np.percentile(values, [25, 50, 75, 99]))
    return Times(len(values), *(round(v, 3) for v in (middle, last, low, high)))


def growth_exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Return the exponent of the power law through measured points, by least squares of logarithms.

    Args:
        sizes: At least two, positive and different.
        values: One for each size, positive.
    """
    slope, _ = np.polyfit([log(size) for size in sizes], [log(value) for value in values], 1)
    return float(slope)


def project(sizes: Sequence[float], values: Sequence[float], size: float) -> float:
    """Return what the power law through measured points says of another size."""
    return float(values[-1] * (size / sizes[-1]) ** growth_exponent(sizes, values))
