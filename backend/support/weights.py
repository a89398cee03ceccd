"""Coefficients of the support model, with their provenance.

Fitted by ``python -m evals.citation_fit`` on the development halves of the pairs made from 232
sections of a public product documentation (with its reference answers) and from Python's language
reference. What support means: among claims of which three in four are right, of those with support
0.8 about eight in ten are. ``docs/evaluation/citations.md`` has the figures on the other halves and
on a documentation that took no part.

``VERIFIED_SUPPORT`` is where a claim is more likely supported than not.
"""

from __future__ import annotations

VERIFIED_SUPPORT = 0.5
INTERCEPT = -5.2
WEIGHTS: dict[str, float] = {
    "passage_coverage": 0.51,
    "window_coverage": 4.91,
    "order": 1.61,
    "fuzzy": 3.49,
    "numbers_missing": -2.55,
    "numbers_elsewhere": -0.35,
    "numbers_substituted": -7.23,
    "names_missing": -0.6,
    "names_elsewhere": -3.46,
    "names_substituted": -6.82,
    "polarity": -8.61,
    "opposites": -7.14,
    "claims": -7.38,
    "words_missing": -1.25,
}
