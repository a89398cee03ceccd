"""Curves of a verdict: separation, risk against coverage, reliability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

RELIABILITY_BINS = 5


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One point of a curve with what it stands for.

    Attributes:
        x: Coverage (share of all questions answered), or mean probability of a bin.
        y: Risk (share of the answered that are unanswerable), or observed share of a bin.
        n: Questions behind the point.
    """

    x: float
    y: float
    n: int


def auroc(positives: Sequence[float], negatives: Sequence[float]) -> float:
    """Return the probability that a positive ranks above a negative, ties counting half.

    Raises:
        ValueError: One side is empty.
    """
    if not positives or not negatives:
        message = "separation needs questions of both classes"
        raise ValueError(message)
    above = sum(
        (positive > negative) + 0.5 * (positive == negative)
        for positive in positives
        for negative in negatives
    )
    return above / (len(positives) * len(negatives))


def risk_coverage(positives: Sequence[float], negatives: Sequence[float]) -> tuple[CurvePoint, ...]:
    """Return, for each threshold from strict to loose, the share answered and its risk."""
    total = len(positives) + len(negatives)
    points: list[CurvePoint] = []
    for threshold in sorted({*positives, *negatives}, reverse=True):
        leaked = sum(value >= threshold for value in negatives)
        answered = leaked + sum(value >= threshold for value in positives)
        points.append(CurvePoint(answered / total, leaked / answered, answered))
    return tuple(points)


def area_under_risk(points: Sequence[CurvePoint]) -> float:
    """Return the mean risk over coverage (AURC), by the trapezoid rule; lower is better."""
    coverage = np.array([0.0, *(point.x for point in points)])
    risk = np.array([points[0].y, *(point.y for point in points)])
    return float(np.sum(np.diff(coverage) * (risk[1:] + risk[:-1]) / 2))


def reliability(
    probabilities: Sequence[float], answerable: Sequence[bool], bins: int = RELIABILITY_BINS
) -> tuple[CurvePoint, ...]:
    """Return mean probability against observed share in bins of equal width, empty ones left out.

    Args:
        probabilities: In [0, 1], of being answerable.
        answerable: The truth, the same length.
        bins: Number of bins over [0, 1].
    """
    values, truth = np.array(probabilities), np.array(answerable, dtype=float)
    places = np.minimum((values * bins).astype(int), bins - 1)
    return tuple(
        CurvePoint(
            float(np.mean(values[places == place])),
            float(np.mean(truth[places == place])),
            int(np.sum(places == place)),
        )
        for place in range(bins)
        if np.any(places == place)
    )


def expected_calibration_error(points: Sequence[CurvePoint]) -> float:
    """Return the mean distance of a reliability diagram from the diagonal, weighted by n."""
    total = sum(point.n for point in points)
    return sum(point.n * abs(point.x - point.y) for point in points) / total
