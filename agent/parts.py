"""Splits a question that asks several things, by rule. Pure, and conservative.

Each part is searched and judged on its own, so a wrong split is worse than none: a part must make
sense alone. What leans on another part ("and why is it so?") keeps the question whole.
"""

from __future__ import annotations

import re

_MOST_PARTS = 4
_FEWEST_WORDS = 3
_ASKING = r"(?:what|how|when|where|why|who|whom|whose|which)"
_AUXILIARY = (
    r"(?:is|are|was|were|do|does|did|can|could|should|shall|will|would|may|must|has|have|many|much"
    r"|long|often|large|big)"
)
_NUMBERED = re.compile(r"(?:^|\n|\s)\(?(\d{1,2})[.)]\s+")
_AND = re.compile(
    rf"(?:,\s*|\s+)(?:and|;)\s+(?:also\s+)?(?={_ASKING}(?:'s)?\s+{_AUXILIARY}\b)", re.IGNORECASE
)
_OPENS_DIRECTLY = re.compile(rf"(?:{_ASKING}\b|{_AUXILIARY}\s)", re.IGNORECASE)
# "How do I check what is running and what is not?": the second half belongs to the verb.
_EMBEDS = re.compile(
    r"\b(?:check|know|tell|see|say|show|find out|figure out|decide|determine|explain|understand"
    r"|list|describe|specify|learn|control|choose|define)\b",
    re.IGNORECASE,
)
# "When routing tickets, what is measured and what are the results?": the setting holds for both.
_SETTING = re.compile(rf",\s*{_ASKING}\b", re.IGNORECASE)
_LEANS = re.compile(
    r"\b(?:it|its|itself|they|them|their|theirs|this|that|these|those|he|she|him|her|one|ones|former"
    r"|latter|else|instead|same|such|so|there|either|neither|both|respectively|the other)\b",
    re.IGNORECASE,
)


def split_parts(question: str) -> tuple[str, ...]:
    """Return the parts of a question, in order; the question itself when it is one.

    Splits numbered lists, several sentences that end in question marks, and two independent
    questions joined by "and". Never more than four parts: a longer list stays whole.

    Args:
        question: The standalone question.
    """
    whole = (question.strip(),)
    for split in (_split_list, _split_sentences, _split_and):
        parts = split(question.strip())
        if 1 < len(parts) <= _MOST_PARTS and _stand_alone(parts):
            return tuple(_as_question(part) for part in parts)
    return whole


def _split_list(question: str) -> list[str]:
    """Split "1. ... 2. ..."; what stands before the first number must only introduce the list."""
    pieces = _NUMBERED.split(question)
    lead, numbers, items = pieces[0].strip(), pieces[1::2], pieces[2::2]
    if numbers != [str(place) for place in range(1, len(numbers) + 1)]:
        return []
    if lead and not lead.endswith(":"):
        return []
    return [item.strip().rstrip(";,") for item in items]


def _split_sentences(question: str) -> list[str]:
    """Split at question marks when everything is a question."""
    if "`" in question or question.count('"') > 1 or not question.endswith("?"):
        return []
    return [piece.strip() for piece in re.split(r"(?<=\?)\s+", question)]


def _split_and(question: str) -> list[str]:
    """Split "... and what is ..." when both sides ask directly."""
    parts = _AND.split(question)
    is_direct = all(_OPENS_DIRECTLY.match(part) for part in parts)
    is_shared = _EMBEDS.search(parts[0]) or _SETTING.search(parts[0])
    return parts if is_direct and not is_shared else []


def _stand_alone(parts: list[str]) -> bool:
    """Whether every part is a question of its own that leans on no other."""
    if any(len(part.split()) < _FEWEST_WORDS for part in parts):
        return False
    openings = all(_OPENS_DIRECTLY.match(_bare(part)) for part in parts)
    return openings and not any(_LEANS.search(part) for part in parts[1:])


def _bare(part: str) -> str:
    """Drop the word that only joins a part to the one before it."""
    return re.sub(r"^(?:and|also|or|then|plus)[\s,]+(?:also\s+)?", "", part, flags=re.IGNORECASE)


def _as_question(part: str) -> str:
    text = _bare(part).rstrip(" .;,")
    text = text[:1].upper() + text[1:]
    return text if text.endswith("?") else f"{text}?"
