"""Coefficients of the support model, with their provenance.

Provisional: set by hand, in the direction every signal must have.
"""

from __future__ import annotations

INTERCEPT = -6.0
WEIGHTS: dict[str, float] = {
    "passage_coverage": 3.0,
    "window_coverage": 4.0,
    "order": 1.5,
    "fuzzy": 1.5,
    "numbers_missing": -2.0,
    "numbers_elsewhere": -0.5,
    "numbers_substituted": -1.5,
    "names_missing": -1.0,
    "names_substituted": -1.0,
    "polarity": -2.0,
    "opposites": -2.0,
    "claims": -0.8,
    "words_missing": -0.5,
}
VERIFIED_SUPPORT = 0.5
