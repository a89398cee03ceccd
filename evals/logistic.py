"""Fits the small model that calibration writes down: the only file that knows scikit-learn."""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# scikit-learn has no types; what it returns is made ours at once.
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evals.observations import Observation

SIGNALS = ("best_cosine", "sparse_per_term", "focus", "value_focus", "unknown_terms")
"""Closeness, shared rare words, whether these stand together, whether a value of the asked kind
stands with them, and words the corpus never uses. More signals gained nothing when cross-validated
on two sets; trees lost."""

_REGULARISATION = 1.0  # inverse strength of the squared penalty, on standardised signals
_LEAST_SCALE = 1e-6


@dataclass(frozen=True, slots=True)
class FittedSignal:
    """One signal's part: ``coefficient * (clip(number) - mean) / scale``.

    Attributes:
        lowest: Smallest number seen in fitting; smaller ones are clipped to it.
        highest: Largest number seen in fitting.
    """

    name: str
    coefficient: float
    mean: float
    scale: float
    lowest: float
    highest: float


@dataclass(frozen=True, slots=True)
class FittedModel:
    """A logistic model over named signals."""

    intercept: float
    signals: tuple[FittedSignal, ...]

    def probability(self, numbers: Mapping[str, float]) -> float:
        """Return the probability of being answerable, in [0, 1].

        Args:
            numbers: Every signal of the model by name.
        """
        log_odds = self.intercept + math.fsum(
            one.coefficient
            * (min(max(numbers[one.name], one.lowest), one.highest) - one.mean)
            / one.scale
            for one in self.signals
        )
        if log_odds < 0:
            odds = math.exp(log_odds)
            return odds / (1.0 + odds)
        return 1.0 / (1.0 + math.exp(-log_odds))


def fit(observations: Sequence[Observation], names: Sequence[str] = SIGNALS) -> FittedModel:
    """Fit on short and long questions together, each kind weighing the same.

    Length alone tells long answerable from short unanswerable questions, so that a model fitted on
    one kind refuses the other: both are fitted, with equal weight whatever their numbers.

    Args:
        observations: Of both classes.
        names: Signals to use.
    """
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - a second of import

    rows = np.array([[one.signals[name] for name in names] for one in observations])
    truth = np.array([one.is_answerable for one in observations])
    mean = rows.mean(axis=0)
    scale = np.maximum(rows.std(axis=0), _LEAST_SCALE)
    model = LogisticRegression(C=_REGULARISATION, solver="newton-cholesky")
    model.fit((rows - mean) / scale, truth, sample_weight=_weights(observations))
    coefficients: NDArray[np.float64] = np.asarray(model.coef_, dtype=np.float64)[0]
    return FittedModel(
        intercept=float(np.asarray(model.intercept_, dtype=np.float64)[0]),
        signals=tuple(
            FittedSignal(
                name,
                float(coefficients[place]),
                float(mean[place]),
                float(scale[place]),
                float(rows[:, place].min()),
                float(rows[:, place].max()),
            )
            for place, name in enumerate(names)
        ),
    )


def _weights(observations: Sequence[Observation]) -> NDArray[np.float64]:
    counts = {kind: sum(one.kind == kind for one in observations) for kind in ("short", "long")}
    negatives = len(observations) - sum(counts.values())
    present = sum(count > 0 for count in counts.values())
    return np.array(
        [
            negatives / present / counts[one.kind] if one.kind != "unanswerable" else 1.0
            for one in observations
        ]
    )
