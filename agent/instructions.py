"""How much a sentence looks like an order to a machine reader instead of documentation.

Documentation is full of orders to people ("Click the button", "Ignore the warning"). What marks an
injection is an order about the conversation itself: what to ignore, what to say, who is speaking.
This only steers what the extractive agent quotes; it is no defence for a model, and none is needed
for correctness: whatever is quoted is shown as a quotation, as text.
"""

from __future__ import annotations

import re

QUOTABLE = 0.5
"""From this suspicion on, a piece of text is not quoted at all."""

_SIGNS: tuple[tuple[float, re.Pattern[str]], ...] = (
    (
        1.0,
        re.compile(
            r"(?i)\b(?:ignore|disregard|forget)\b[^.]{0,40}"
            r"\b(?:previous|prior|above|earlier|preceding|rest of|other|all|instructions?|prompt)\b"
        ),
    ),
    (0.6, re.compile(r"(?i)\b(?:want|need|order|instruct) you to (?:ignore|disregard|forget)\b")),
    (0.6, re.compile(r"(?i)\binstead,? (?:just |only )?(?:focus|print|write|say|reply|respond)\b")),
    (0.6, re.compile(r"(?i)(?:^[ \t>*\-\"']*|[:;] *)(?:system|assistant|user|human)\s*:\s+\S")),
    (0.6, re.compile(r"(?i)<\|?/?(?:end of session|im_start|im_end|system|endoftext)\b")),
    (0.6, re.compile(r"(?i)\b(?:reply|respond|answer) (?:only )?with exactly\b")),
    (
        0.5,
        re.compile(
            r"(?i)\b(?:your|new|updated) (?:system )?instructions? (?:is|are)\b"
            r"|\bfollow (?:these|the following) (?:new )?instructions\b"
            r"|\bfocus (?:only|exclusively) on the (?:following )?information\b"
        ),
    ),
)


def instruction_suspicion(text: str) -> float:
    """Return the suspicion of a piece of text, in [0, 1]; 0 for ordinary documentation."""
    return min(1.0, sum(weight for weight, sign in _SIGNS if sign.search(text)))
