"""Applies a written artefact to observations, with the guard's own arithmetic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from backend.verdict.calibration import estimate
from backend.verdict.calibration_artefact import CalibrationArtefact
from evals.observations import Observation
from evals.operating import Judged, judged
from knowledge.contracts import Signals

_FIELDS = frozenset(Signals.model_fields) - {"more", "missing_terms"}


def signals_of(numbers: Mapping[str, float]) -> Signals:
    """Return numbers as the guard reads them."""
    fields = {name: number for name, number in numbers.items() if name in _FIELDS}
    return Signals.model_validate(
        fields
        | {
            "hit_count": int(numbers["hit_count"]),
            "more": {name: number for name, number in numbers.items() if name not in _FIELDS},
        }
    )


def apply(artefact: CalibrationArtefact, observations: Sequence[Observation]) -> tuple[Judged, ...]:
    """Return the verdicts an artefact gives, unchanged."""

    def number_of(one: Observation) -> float:
        return estimate(artefact, signals_of(one.signals)).probability

    return judged(observations, number_of, artefact.threshold)
