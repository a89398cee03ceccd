"""What kind of value a question asks for, and whether a sentence holds one.

A passage may hold every word of "What is the price of X?" and no price. Overlap of words and
closeness of vectors cannot see that; a look for a value of the asked kind can. Rules, not a model:
they are few, each can be read, and a question that none fits asks for no value.
"""

from __future__ import annotations

import re
from typing import Literal

AskedKind = Literal["number", "money", "date", "name", "none"]

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_AUXILIARY = r"(?:did|was|were|is|are|will|does|do|has|have|can|must|should|would)"

# The first that fits decides, so the narrower kinds come first.
_QUESTIONS: tuple[tuple[AskedKind, re.Pattern[str]], ...] = (
    (
        "money",
        re.compile(
            rf"\bhow much {_AUXILIARY}\b.*\b(?:cost|pay|charged?|priced?)\b|\bhow expensive\b"
            r"|\bwhat (?:is|are|was|were) the (?:price|cost|fee|discount)\b"
            r"|\b(?:what|which) (?:price|discount|fee)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "date",
        re.compile(
            rf"^\W*when {_AUXILIARY}\b|\b(?:what|which) (?:date|year|day|month)\b", re.IGNORECASE
        ),
    ),
    (
        "number",
        re.compile(
            r"\bhow (?:many|often|long|large|big|fast|far|deep|high|tall|old|much)\b"
            r"|\bwhat (?:is|are|was) the (?:default |exact |current |average )?"
            r"(?:maximum|minimum|limit|size|number|timeout|percentage|port)\b"
            r"|\b(?:what|which) (?:\w+ )?(?:dimension|port|timeout|percentage|exit code)\b",
            re.IGNORECASE,
        ),
    ),
    ("name", re.compile(r"^\W*who\b", re.IGNORECASE)),
)

_DIGITS = re.compile(r"\d+(?:[.,:]\d+)*")
_VALUES: dict[AskedKind, re.Pattern[str]] = {
    "number": re.compile(
        r"(?<![\w.])\d[\d,._]*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|once"
        r"|twice|hundred|thousand|million|unlimited|no limit)\b",
        re.IGNORECASE,
    ),
    "money": re.compile(r"[$€£]\s?\d|\d\s?(?:%|percent|dollars|usd|eur)|\bfree\b", re.IGNORECASE),
    "date": re.compile(
        rf"\b{_MONTH}\.? \d|\b\d{{1,2}} {_MONTH}\b|\b(?:19|20)\d\d\b|\bversion \d", re.IGNORECASE
    ),
    "name": re.compile(r"\b[A-Z][a-z]+ (?:[A-Z]\.? )?[A-Z][a-z]+"),
}


def asked_kind(question: str) -> AskedKind:
    """Return the kind of value a question asks for, ``none`` when no rule fits."""
    for kind, asks in _QUESTIONS:
        if asks.search(question):
            return kind
    return "none"


def holds_value(sentence: str, kind: AskedKind, question: str) -> bool:
    """Return whether a sentence holds a value of the kind that the question does not itself give.

    Args:
        sentence: Text of the evidence.
        kind: What is asked for; with ``none`` every sentence will do.
        question: Its own numbers ("Claude 3", "Python 3.8") are no answer to it.
    """
    if kind == "none":
        return True
    given = set(_DIGITS.findall(question))
    return any(
        not given.intersection(_DIGITS.findall(found.group()))
        for found in _VALUES[kind].finditer(sentence)
    )
