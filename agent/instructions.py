"""How much a sentence looks like an order to a machine reader instead of documentation.

Documentation is full of orders to people ("Click the button", "Ignore the warning"). What marks an
injection is an order about the conversation itself: what to ignore, what to say, who is speaking.
This only steers what the extractive agent quotes; it is no defence for a model.
"""

from __future__ import annotations

import re

_SIGNS: tuple[tuple[float, re.Pattern[str]], ...] = (
    (
        1.0,
        re.compile(
            r"(?i)\b(?:ignore|disregard|forget)\b[^.]{0,40}"
            r"\b(?:previous|prior|above|earlier|rest|other|all|instruction)"
        ),
    ),
    (0.6, re.compile(r"(?i)^\W*(?:system|assistant|user|human)\s*:")),
    (0.6, re.compile(r"(?i)<\|?(?:end of session|im_start|im_end|system|endoftext)")),
    (
        0.5,
        re.compile(
            r"(?i)\b(?:your|new|these) instructions? (?:is|are)\b"
            r"|\bfollow (?:these|the following) instructions"
        ),
    ),
)


def instruction_suspicion(text: str) -> float:
    """Return the suspicion of a piece of text, in [0, 1]; 0 for ordinary documentation."""
    return min(1.0, sum(weight for weight, sign in _SIGNS if sign.search(text)))
