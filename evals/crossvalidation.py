"""Cross-validation of a verdict: no question is judged by a model or threshold that saw it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from evals.curves import auroc
from evals.logistic import SIGNALS, fit
from evals.observations import Observation
from evals.operating import Judged, Limits, judged, threshold_for

FOLDS = 5
REPETITIONS = 10


@dataclass(frozen=True, slots=True)
class CrossValidated:
    """Every repetition's verdicts.

    Attributes:
        runs: One per repetition, each with every question once, in the same order.
        thresholds: Of every fold of every repetition.
    """

    runs: tuple[tuple[Judged, ...], ...]
    thresholds: tuple[float, ...]

    @property
    def verdicts(self) -> tuple[Judged, ...]:
        """All verdicts of all repetitions."""
        return tuple(one for run in self.runs for one in run)

    def separation(self, kinds: Sequence[str]) -> float:
        """Return the mean AUROC of these kinds against the unanswerable ones."""
        values = [
            auroc(
                [one.number for one in run if one.observation.kind in kinds],
                [one.number for one in run if not one.observation.is_answerable],
            )
            for run in self.runs
        ]
        return sum(values) / len(values)


def cross_validate(
    observations: Sequence[Observation],
    limits: Limits,
    *,
    names: Sequence[str] = SIGNALS,
    folds: int = FOLDS,
    repetitions: int = REPETITIONS,
) -> CrossValidated:
    """Fit and choose a threshold on all folds but one, and judge that one.

    Args:
        observations: Of both classes.
        limits: Over-refusal that the threshold aims at.
        names: Signals to fit.
        folds: Parts, each with its share of every band.
        repetitions: Different ways to part them, averaged.
    """
    runs: list[tuple[Judged, ...]] = []
    thresholds: list[float] = []
    for repetition in range(repetitions):
        part_of = _parts(observations, folds, repetition)
        verdicts: dict[str, Judged] = {}
        for part in range(folds):
            rest = [one for one in observations if part_of[_key(one)] != part]
            held_out = [one for one in observations if part_of[_key(one)] == part]
            threshold, found = _judge(rest, held_out, limits, names)
            thresholds.append(threshold)
            verdicts |= {_key(one.observation): one for one in found}
        runs.append(tuple(verdicts[_key(one)] for one in observations))
    return CrossValidated(tuple(runs), tuple(thresholds))


def _judge(
    rest: Sequence[Observation],
    held_out: Sequence[Observation],
    limits: Limits,
    names: Sequence[str],
) -> tuple[float, tuple[Judged, ...]]:
    model = fit(rest, names)

    def number_of(one: Observation) -> float:
        return model.probability(one.signals)

    threshold = threshold_for(rest, number_of, limits)
    return threshold, judged(held_out, number_of, threshold)


def _key(one: Observation) -> str:
    return f"{one.band}/{one.question_id}"


def _parts(observations: Sequence[Observation], folds: int, repetition: int) -> dict[str, int]:
    """Return each question's part: by hash within its band, so that parts are alike and fixed."""
    part_of: dict[str, int] = {}
    for band in dict.fromkeys(one.band for one in observations):
        keys = sorted(
            (_key(one) for one in observations if one.band == band),
            key=lambda key: hashlib.sha256(f"{repetition}:{key}".encode()).digest(),
        )
        part_of |= {key: place % folds for place, key in enumerate(keys)}
    return part_of
