"""Changes that make a documentation sentence false: what a citation check must catch.

Each rule returns the changed sentence, or None where it does not apply. The word lists here are
the evaluation's own and were written without looking at those of the product: a check that merely
knows the rules would otherwise look better than it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*(?![\w]*[_-]?\w*\d)")
_SPELLED = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve")
_SPELLED_FORM = re.compile(rf"\b(?:{'|'.join(_SPELLED)})\b", re.IGNORECASE)
_VERSION = re.compile(
    r"(?<=[A-Za-z] )\d+(?:\.\d+){1,3}\b|\bv\d+(?:\.\d+)*\b|(?<=[a-z]-)\d+(?:[.-]\d+)*(?=-|\b)"
    r"|(?<=Claude )\d(?:\.\d)?|(?<=WSL )\d|(?<=Python )\d(?:\.\d+)?|(?<=Windows )\d+"
)
_ENTITY = re.compile(
    r"`[^`\n]{2,40}`"
    r"|(?<=[a-z,] )(?:[A-Z][\w+.]*\w)(?: (?:[A-Z][\w+.]*\w|\d(?:\.\d)?))*"
    r"|\b[A-Za-z]+_[A-Za-z_]+\b|\b[A-Z]{2,6}\b"
)
_NO_ENTITIES = frozenset(
    {"how", "to", "it", "the", "this", "if", "you", "for", "when", "we", "a", "in", "what", "why"}
    | {"and", "help", "see", "use", "its", "your", "our", "with", "get", "then", "i"}
)
_AUXILIARY = re.compile(
    r"\b(?P<verb>is|are|was|were|can|could|will|would|should|must|may|does|do|did|has|have)\b"
    r"(?! not\b)(?!n['’]t)",
)
_THIRD_PERSON = re.compile(
    r"\b(?P<verb>allow|support|provide|return|use|require|contain|include|work|run|create|need|take|"
    r"accept|raise|mean|make|give|define|start|apply|help|cause|affect|change|show|set|execute)s\b"
)
_NEGATED = re.compile(r"\b(?P<verb>is|are|can|does|do|should|must|will|may)(?: not|n['’]t)\b")
_CANNOT = re.compile(r"\bcan(?:not|['’]t)\b")
_OPPOSITE_PAIRS = (
    ("more", "less"),
    ("before", "after"),
    ("always", "never"),
    ("increase", "reduce"),
    ("increases", "reduces"),
    ("improve", "worsen"),
    ("improves", "worsens"),
    ("higher", "lower"),
    ("faster", "slower"),
    ("larger", "smaller"),
    ("longer", "shorter"),
    ("maximum", "minimum"),
    ("first", "last"),
    ("enable", "disable"),
    ("enabled", "disabled"),
    ("enables", "disables"),
    ("include", "leave out"),
    ("includes", "leaves out"),
    ("add", "remove"),
    ("all", "no"),
    ("every", "no"),
    ("required", "optional"),
    ("easy", "hard"),
    ("easier", "harder"),
    ("best", "worst"),
    ("better", "worse"),
    ("with", "without"),
    ("start", "stop"),
    ("true", "false"),
    ("left", "right"),
    ("inner", "outer"),
    ("new", "old"),
    ("must", "need not"),
    ("supported", "unsupported"),
    ("available", "unavailable"),
    ("automatically", "only by hand"),
    ("high", "low"),
    ("input", "output"),
    ("both", "neither"),
    ("immutable", "mutable"),
    ("evaluated", "ignored"),
    ("allows", "forbids"),
    ("raised", "suppressed"),
)


def change_number(sentence: str, random: Random, passage: str) -> str | None:
    """Put another number in a number's place: half the time one that the passage has elsewhere."""
    places = list(_NUMBER.finditer(sentence))
    if not places:
        spelled = _SPELLED_FORM.search(sentence)
        if spelled is None:
            return None
        word = random.choice([each for each in _SPELLED if each != spelled[0].casefold()])
        return sentence[: spelled.start()] + word + sentence[spelled.end() :]
    place = random.choice(places)
    others = sorted({m[0] for m in _NUMBER.finditer(passage)} - {m[0] for m in places})
    if others and random.random() < 0.5:  # noqa: PLR2004 - a fair coin
        value = random.choice(others)
    else:
        value = _altered(place[0], random)
    return sentence[: place.start()] + value + sentence[place.end() :]


def change_version(sentence: str, random: Random, passage: str) -> str | None:
    """Change a version: of a product, an interface or a model name."""
    del passage
    places = list(_VERSION.finditer(sentence))
    if not places:
        return None
    place = random.choice(places)
    return sentence[: place.start()] + _altered(place[0], random) + sentence[place.end() :]


def change_entity(sentence: str, random: Random, passage: str) -> str | None:
    """Put another name of the same passage in a name's place, or swap two of the sentence."""
    places = _entities(sentence)
    if not places:
        return None
    different = [m for m in places if m[0] != places[0][0]]
    if different and random.random() < 0.4:  # noqa: PLR2004 - swaps are rarer than replacements
        return _swapped(sentence, places[0], different[0])
    place = random.choice(places)
    is_code = place[0].startswith("`")
    others = sorted({m[0] for m in _entities(passage) if m[0].startswith("`") == is_code})
    others = [other for other in others if other not in sentence and place[0] not in other]
    if not others:
        return None
    return sentence[: place.start()] + random.choice(others) + sentence[place.end() :]


def change_negation(sentence: str, random: Random, passage: str) -> str | None:
    """Negate what is affirmed, or affirm what is negated."""
    del passage
    cannot = _CANNOT.search(sentence)
    if cannot is not None:
        return sentence[: cannot.start()] + "can" + sentence[cannot.end() :]
    negated = _NEGATED.search(sentence)
    if negated is not None:
        return sentence[: negated.start()] + negated["verb"] + sentence[negated.end() :]
    third = _THIRD_PERSON.search(sentence)
    if third is not None:
        return f"{sentence[: third.start()]}does not {third['verb']}{sentence[third.end() :]}"
    auxiliary = _AUXILIARY.search(sentence)
    if auxiliary is None:
        return None
    word = "n't" if random.random() < 0.3 and auxiliary["verb"] not in {"may", "can"} else " not"  # noqa: PLR2004 - contractions are rarer
    word = " not" if auxiliary["verb"] == "will" else word
    return sentence[: auxiliary.end()] + word + sentence[auxiliary.end() :]


def change_opposite(sentence: str, random: Random, passage: str) -> str | None:
    """Put a word's opposite in its place."""
    del passage
    for left, right in random.sample(_OPPOSITE_PAIRS, len(_OPPOSITE_PAIRS)):
        for word, other in ((left, right), (right, left)):
            found = re.search(rf"\b{word}\b", sentence)
            if found is not None:
                return sentence[: found.start()] + other + sentence[found.end() :]
    return None


CHANGES = {
    "number": change_number,
    "version": change_version,
    "entity": change_entity,
    "negation": change_negation,
    "opposite": change_opposite,
}


def _entities(text: str) -> list[re.Match[str]]:
    found = _ENTITY.finditer(text)
    return [m for m in found if m[0].split(maxsplit=1)[0].casefold() not in _NO_ENTITIES]


def _altered(number: str, random: Random) -> str:
    """Change one part of a number or version, keeping its form."""
    parts: Sequence[str] = re.split(r"(\D+)", number)
    digits = [index for index, part in enumerate(parts) if part.isdigit()]
    index = random.choice(digits)
    value = int(parts[index])
    candidates = [value + 1, value + 2, value * 10, value * 2 + 1, max(0, value - 1), value // 2]
    other = random.choice([each for each in candidates if each != value])
    return "".join([*parts[:index], str(other).zfill(len(parts[index]))[:12], *parts[index + 1 :]])


def _swapped(sentence: str, first: re.Match[str], second: re.Match[str]) -> str:
    between = sentence[first.end() : second.start()]
    return f"{sentence[: first.start()]}{second[0]}{between}{first[0]}{sentence[second.end() :]}"
