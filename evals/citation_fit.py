"""Fit the coefficients of the support check: ``python -m evals.citation_fit SET...``.

Logistic regression on the development halves of the given sets. A signal whose coefficient comes
out against its meaning (a missing number that raises the support) is left out and the rest fitted
again, so that the model stays readable. Claims in people's own words are rare among the pairs and
are what the check is for, so each counts several times. The intercept is then moved from the share
of true pairs in the data to the share of claims an answering model is taken to get right.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from backend.support.features import FEATURE_NAMES
from evals.citation_pairs import REFERENCE, Pair
from evals.citations import pairs_of, signals

Numbers: TypeAlias = NDArray[np.float64]

PRIOR_SUPPORTED = 0.75
REFERENCE_WEIGHT = 3.0
INVERSE_REGULARISATION = 10.0
_NEWTON_STEPS = 30
_RAISING = frozenset({"passage_coverage", "window_coverage", "order", "fuzzy"})


@dataclass(frozen=True, slots=True)
class Fitted:
    """Coefficients by signal; a signal left out has 0."""

    intercept: float
    weights: dict[str, float]


def fit(pairs: Sequence[Pair]) -> Fitted:
    """Fit on pairs with known truth.

    Args:
        pairs: The development halves only.
    """
    rows = np.array([signals(pair) for pair in pairs])
    truth = np.array([float(pair.supported) for pair in pairs])
    counts = np.array([REFERENCE_WEIGHT if _is_reference(pair) else 1.0 for pair in pairs])
    kept = np.ones(len(FEATURE_NAMES), dtype=bool)
    signs = np.array([1 if name in _RAISING else -1 for name in FEATURE_NAMES])
    while True:
        weights, intercept = _regress(rows[:, kept], truth, counts)
        against = weights * signs[kept] < 0
        if not against.any():
            break
        kept[np.flatnonzero(kept)[against]] = False
    everything = np.zeros(len(FEATURE_NAMES))
    everything[kept] = weights
    share = float(np.average(truth, weights=counts))
    shift = math.log(PRIOR_SUPPORTED / (1 - PRIOR_SUPPORTED)) - math.log(share / (1 - share))
    named = {name: round(float(w), 2) for name, w in zip(FEATURE_NAMES, everything, strict=True)}
    return Fitted(round(intercept + shift, 2), named)


def _regress(rows: Numbers, truth: Numbers, counts: Numbers) -> tuple[Numbers, float]:
    """Fit a ridge-penalised logistic regression by Newton's method, the intercept unpenalised."""
    design = np.column_stack([rows, np.ones(len(rows))])
    penalty = np.diag([*[1 / INVERSE_REGULARISATION] * rows.shape[1], 0.0])
    weights = np.zeros(design.shape[1])
    for _ in range(_NEWTON_STEPS):
        probability = 1 / (1 + np.exp(-(design @ weights)))
        gradient = design.T @ (counts * (truth - probability)) - penalty @ weights
        spread = counts * probability * (1 - probability)
        weights = weights + np.linalg.solve((design.T * spread) @ design + penalty, gradient)
    return weights[:-1], float(weights[-1])


def _is_reference(pair: Pair) -> bool:
    return pair.change.startswith(REFERENCE)


def main() -> None:
    """Print the constants for ``backend/support/weights.py``."""
    pairs = [pair for folder in sys.argv[1:] for pair in pairs_of(Path(folder))]
    fitted = fit([pair for pair in pairs if pair.half == "dev"])
    lines = [f"INTERCEPT = {fitted.intercept}", "WEIGHTS: dict[str, float] = {"]
    lines += [f'    "{name}": {weight},' for name, weight in fitted.weights.items()]
    sys.stdout.write("\n".join([*lines, "}"]) + "\n")


if __name__ == "__main__":
    main()
