"""Evaluates a calibration: probability and contributions from signals, and whether it still holds.

Pure code on frozen values; fitting happens elsewhere, with a library this process never loads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from backend.contract import SignalView
from backend.verdict.calibration_artefact import (
    CalibrationArtefact,
    CalibrationStamp,
    CalibrationState,
    SignalWeight,
)
from knowledge.contracts import IndexInfo, Signals

_IDENTITY = ("embedding_model", "model_digest", "dimension", "header_format", "chunker", "profile")


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a calibration says of one question.

    Attributes:
        probability: That the documentation answers it, in [0, 1].
        contributions: Each signal's part of the log-odds, largest first.
    """

    probability: float
    contributions: tuple[SignalView, ...]


@dataclass(frozen=True, slots=True)
class DriftCheck:
    """What a drift check found for one build.

    Attributes:
        build: The build that was compared.
        changed_share: Share of chunks that differ from the calibrated build, in [0, 1].
        passed: Whether the live signals still look like those of the calibration.
    """

    build: str
    changed_share: float
    passed: bool


def estimate(artefact: CalibrationArtefact, signals: Signals) -> Estimate:
    """Return the probability that the evidence suffices, with what led to it."""
    parts = tuple(
        sorted(
            (_contribution(weight, signals) for weight in artefact.weights),
            key=lambda part: -abs(part.contribution or 0.0),
        )
    )
    log_odds = artefact.intercept + math.fsum(part.contribution or 0.0 for part in parts)
    return Estimate(probability=_sigmoid(log_odds), contributions=parts)


def signal_number(signals: Signals, name: str) -> float | None:
    """Return a signal by name; None when the index does not give it."""
    if name in signals.more:
        return signals.more[name]
    number: object = getattr(signals, name, None) if name in type(signals).model_fields else None
    return float(number) if isinstance(number, int | float) else None


def state_of(
    stamp: CalibrationStamp, index: IndexInfo, drift_limit: float, check: DriftCheck | None = None
) -> CalibrationState:
    """Return whether an artefact may be used on an index.

    ``void`` when model, header format, chunker or profile differ, when more of the corpus changed
    than the limit, or when the drift check failed; ``drifted`` when the corpus changed less.

    Args:
        stamp: Of the artefact.
        index: The index in force.
        drift_limit: Share of changed chunks from which on it is void.
        check: The newest drift check; counts only for the build it was made on.
    """
    if mismatches(stamp, index):
        return "void"
    if check is not None and check.build == index.build:
        if not check.passed or check.changed_share > drift_limit:
            return "void"
        return "drifted" if check.changed_share > 0 else "fresh"
    if stamp.content_digest and index.content_digest:
        is_same = stamp.content_digest == index.content_digest
    else:
        is_same = stamp.build == index.build
    if is_same:
        return "fresh"
    # Without a check the count alone is known: so many chunks must differ, and maybe more do.
    least_changed = abs(stamp.chunks - index.chunks) / max(stamp.chunks, index.chunks, 1)
    return "void" if least_changed > drift_limit else "drifted"


def mismatches(stamp: CalibrationStamp, index: IndexInfo) -> tuple[str, ...]:
    """Return what must be the same for an artefact to be used and is not, in words."""
    return tuple(
        name.replace("_", " ")
        for name in _IDENTITY
        if _differs(getattr(stamp, name), getattr(index, name))
    )


def _differs(ours: object, theirs: object) -> bool:
    return bool(ours) and bool(theirs) and ours != theirs


def _contribution(weight: SignalWeight, signals: Signals) -> SignalView:
    found = signal_number(signals, weight.name)
    number = weight.missing if found is None else found
    clipped = min(max(number, weight.lowest), weight.highest)
    return SignalView(
        name=weight.name,
        number=number,
        contribution=weight.coefficient * (clipped - weight.mean) / weight.scale,
    )


def _sigmoid(log_odds: float) -> float:
    if log_odds >= 0:
        return 1.0 / (1.0 + math.exp(-log_odds))
    odds = math.exp(log_odds)
    return odds / (1.0 + odds)
