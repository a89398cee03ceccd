"""Observations made up for tests of verdicts, with a known separation."""

from __future__ import annotations

import numpy as np

from evals.observations import Kind, Observation

NAMES = ("best_cosine", "sparse_per_term", "focus", "value_focus", "unknown_terms")


def observation(identity: str, kind: Kind, strength: float, *, band: str = "") -> Observation:
    """Return a question whose signals all say the same: strength, in [0, 1]."""
    signals = dict.fromkeys(NAMES, strength) | {
        "unknown_terms": 1.0 - strength,
        "cosine_margin": 0.1,
        "term_coverage": strength,
        "hit_count": 4.0,
    }
    return Observation(
        identity, f"question {identity}?", kind, band or kind, signals, ("a passage",)
    )


def separated(n: int = 40, *, overlap: float = 0.0, seed: int = 7) -> tuple[Observation, ...]:
    """Return n short, n long and 2n unanswerable questions.

    Args:
        n: Questions of each answerable kind.
        overlap: 0 leaves a wide gap between the classes, 1 makes them alike.
        seed: Of the spread within a class.
    """
    random = np.random.default_rng(seed)

    def strength(low: float, high: float) -> float:
        return low + (high - low) * float(random.random())

    gap = 0.3 * (1 - overlap)
    rows = [observation(f"s{i}", "short", strength(0.5, 0.9)) for i in range(n)]
    rows += [observation(f"l{i}", "long", strength(0.5, 0.9)) for i in range(n)]
    for i in range(2 * n):
        band = ("far", "near", "adversarial_near")[i % 3]
        low, high = 0.5 - gap - 0.2 * (1 - overlap), 0.9 - gap - 0.4 * (1 - overlap)
        rows.append(observation(f"u{i}", "unanswerable", strength(low, high), band=band))
    return tuple(rows)
