"""``vouch calibrate --check``: do live questions still look like those of the calibration?

Live questions are a mixture of answerable and unanswerable ones in a share nobody knows. A shift of
that share alone breaks nothing. So each signal's live distribution is compared with the best
mixture of the calibration's two, the share being the same for all signals: what no mixture explains
is drift, and the certified bound no longer speaks of such questions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from backend.verdict.calibration_artefact import CalibrationArtefact, SignalDistribution

LEAST_LIVE = 30
"""Fewer live questions say nothing."""

LARGEST_DISTANCE = 0.2
"""Distances below it are of no consequence, however certain."""

_SIGNIFICANCE = 0.01
_SHARES = np.linspace(0.0, 1.0, 41)

Numbers = NDArray[np.float64]


class SignalDrift(BaseModel):
    """One signal, live against calibration."""

    model_config = ConfigDict(frozen=True)

    name: str
    distance: float
    limit: float
    has_drifted: bool


class DriftReport(BaseModel):
    """What ``--check`` prints.

    ``answerable_share`` is the share of answerable questions that explains the live ones best.
    """

    model_config = ConfigDict(frozen=True)

    n: int
    answerable_share: float | None
    signals: tuple[SignalDrift, ...]
    passed: bool
    message: str


def check_drift(artefact: CalibrationArtefact, live: Sequence[Mapping[str, float]]) -> DriftReport:
    """Compare the signals of recorded asks with those of the calibration.

    Kolmogorov-Smirnov distances with the two-sample critical value; the share of answerable
    questions is fitted, which makes the test lenient, never strict.

    Args:
        artefact: With its signal distributions.
        live: Signals of recorded asks, newest or all; those that lack a signal are left out of it.
    """
    usable = [one for one in artefact.distributions if any(one.name in row for row in live)]
    if len(live) < LEAST_LIVE or not usable:
        return DriftReport(
            n=len(live),
            answerable_share=None,
            signals=(),
            passed=True,
            message=(
                f"{len(live)} recorded questions are too few to compare; {LEAST_LIVE} are needed"
            ),
        )
    samples = {one.name: _sample(one.name, live) for one in usable}
    share = min(_SHARES, key=lambda s: max(_distance(one, samples[one.name], s) for one in usable))
    # The distributions are of all questions; those counted here are of the half that certified.
    calibrated = 2 * (artefact.operating.answerable + artefact.operating.unanswerable)
    signals = tuple(_drift(one, samples[one.name], float(share), calibrated) for one in usable)
    drifted = [one for one in signals if one.has_drifted]
    return DriftReport(
        n=len(live),
        answerable_share=float(share),
        signals=signals,
        passed=not drifted,
        message=_message(drifted, len(live)),
    )


def _drift(
    distribution: SignalDistribution, sample: Numbers, share: float, calibrated: int
) -> SignalDrift:
    distance = _distance(distribution, sample, share)
    spread = (len(sample) + calibrated) / (len(sample) * calibrated)
    critical = math.sqrt(-math.log(_SIGNIFICANCE / 2) / 2 * spread)
    limit = max(LARGEST_DISTANCE, critical)
    return SignalDrift(
        name=distribution.name, distance=distance, limit=limit, has_drifted=distance > limit
    )


def _distance(distribution: SignalDistribution, sample: Numbers, share: float) -> float:
    """Return the largest gap between the live and the mixed cumulative distribution."""
    places = np.unique(np.concatenate([sample, distribution.answerable, distribution.unanswerable]))
    live = np.searchsorted(sample, places, side="right") / len(sample)
    mixed = share * _cumulative(distribution.answerable, places) + (1 - share) * _cumulative(
        distribution.unanswerable, places
    )
    return float(np.max(np.abs(live - mixed)))


def _cumulative(quantiles: Sequence[float], places: Numbers) -> Numbers:
    """Return the cumulative distribution that equally spaced quantiles describe."""
    values = np.array(quantiles)
    # Equal quantiles are a jump: the right end of it counts, as it does in the live sample.
    at = np.searchsorted(values, places, side="right")
    lower = np.clip(at - 1, 0, len(values) - 1)
    upper = np.clip(at, 0, len(values) - 1)
    width = values[upper] - values[lower]
    inside = np.where(width > 0, (places - values[lower]) / np.where(width > 0, width, 1.0), 0.0)
    return np.clip((at - 1 + inside) / (len(values) - 1), 0.0, 1.0)


def _sample(name: str, live: Sequence[Mapping[str, float]]) -> Numbers:
    return np.sort(np.array([row[name] for row in live if name in row], dtype=np.float64))


def _message(drifted: Sequence[SignalDrift], n: int) -> str:
    if not drifted:
        return f"the signals of {n} recorded questions look like those of the calibration"
    named = ", ".join(f"{one.name} (distance {one.distance:.2f})" for one in drifted)
    return (
        f"the signals of {n} recorded questions differ from those of the calibration: {named}; "
        "its bound no longer holds for them, calibrate again"
    )
