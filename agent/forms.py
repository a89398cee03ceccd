"""What form an answer should have, read from the question's first words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from agent.units import Unit
from agent.words import terms
from prose.words import surface_words

Form = Literal["definition", "procedure", "reason", "quantity", "condition", "other"]

_FORMS: tuple[tuple[Form, re.Pattern[str]], ...] = (
    (
        "condition",
        re.compile(r"(?i)\bwhat (?:happens|is raised|error|exception)|\bwhich exception"),
    ),
    (
        "quantity",
        re.compile(
            r"(?i)\bhow (?:many|much|long|large|big|old|often)\b|\bwhen (?:was|did|is)\b|\bwhat "
            r"(?:is|are) the (?:default|maximum|minimum|max|min|limit|size|price|cost|date"
            r"|port|version|number)\b|\bwhich (?:version|port|year|date)"
        ),
    ),
    ("reason", re.compile(r"(?i)^\s*why\b")),
    ("procedure", re.compile(r"(?i)\bhow (?:do|can|should|to|would|does one)\b")),
    (
        "definition",
        re.compile(r"(?i)^\s*(?:what(?:'s| is| are| does)|define|explain|describe)\b"),
    ),
)
_DEFINING = re.compile(
    r"(?i)^(?:an?|the)?\s*[\"`*“]?[\w.\-()\[\]/ ]{1,60}?[\"`*”]?(?:\s[\w-]+){0,3}\s+"
    r"(?:is|are|defines?|provides?|returns?|means|represents?|refers? to|allows?|lets"
    r"|specif(?:y|ies)|contains?|creates?|evaluates?|executes?|binds?|raises?|introduces?"
    r"|describes?|controls?|enables?)\b"
    r"|^(?:called (?:when|to|by|after)|used (?:to|for)|returns? |is (?:a|an|the) )"
)
_STATES_REASON = re.compile(
    r"(?i)\b(?:because|since|so that|in order to|reason|avoid|therefore|allows?)\b"
)
_STATES_STEP = re.compile(
    r"(?i)^(?:to |use |you can |run |set |click |add |open |install |call |by )|\bcan be\b"
)
_STATES_CONDITION = re.compile(r"(?i)\b(?:raise[sd]?|if|when|unless|error|exception|otherwise)\b")
_HISTORY = re.compile(r"(?i)^(?:changed|added|deprecated|new) (?:in|since) version|^deprecated")
_ASKS_HISTORY = re.compile(r"(?i)\b(?:version|chang|new|add|deprecat|since|introduc)")
_NAMING = re.compile(
    r"(?i)\b(?:is|are|called|named|termed|known as)(?: an?| the)? [*\"`“]+([\w\- ]{2,40})[*\"`”]"
)
_HEADLESS = re.compile(r"(?i)^(?:called|used|returns?|is)\b")
_APPARATUS = re.compile(r"(?i)^(?:\[\d+\]|\*\*PEP|See also|For more|See )")
_DANGLING = re.compile(
    r"(?i)^(?:it|this|these|those|they|that|otherwise|however|also|for instance|for example"
    r"|in this case|such|similarly|note that this)\b"
)


@dataclass(frozen=True, slots=True)
class QuestionForm:
    """The form asked for, and the last subject words of a definition question."""

    form: Form
    asks_history: bool

    @classmethod
    def of(cls, question: str) -> QuestionForm:
        """Read the form from the words of the question."""
        form: Form = "other"
        for name, pattern in _FORMS:
            if pattern.search(question):
                form = name
                break
        return cls(form, bool(_ASKS_HISTORY.search(question)))


def form_bonus(form: QuestionForm, unit: Unit, weights: Mapping[str, float]) -> float:
    """Return what the shape of a unit adds to its fit, about [-0.5, 0.6].

    Args:
        form: What the question asks for.
        unit: The unit.
        weights: Weight of each question term, any scale.
    """
    bonus = _shape(form.form, unit, weights)
    if _HISTORY.match(unit.text) and not form.asks_history:
        bonus -= 0.4
    if _APPARATUS.match(unit.text):
        bonus -= 0.3
    return bonus


def is_dangling(text: str) -> bool:
    """Whether a sentence leans on the one before it."""
    return bool(_DANGLING.match(text))


def _shape(form: Form, unit: Unit, weights: Mapping[str, float]) -> float:
    text = unit.text
    match form:
        case "definition":
            return _definition(unit, weights)
        case "procedure":
            return 0.2 * bool(_STATES_STEP.search(text))
        case "reason":
            return 0.28 * bool(_STATES_REASON.search(text))
        case "quantity":
            return 0.12 * any(any(sign.isdigit() for sign in word) for word in surface_words(text))
        case "condition":
            return 0.1 * bool(_STATES_CONDITION.search(text))
        case "other":
            return 0.0


def _definition(unit: Unit, weights: Mapping[str, float]) -> float:
    """Reward a sentence that defines what the question asks about.

    Either its grammatical subject is what is asked ("A generator is ..."), or it gives it its name
    ("... it is a *free variable*").
    """
    total = sum(weights.values())
    best = 0.0
    found = _DEFINING.match(unit.text)
    if found:
        signature = unit.names.signature if _HEADLESS.match(unit.text) else ""
        best = _weight_in(f"{found.group()} {signature}", weights) / total
    for naming in _NAMING.finditer(unit.text):
        best = max(best, _weight_in(naming.group(1), weights) / total)
    return 0.05 * (best > 0) + 0.35 * best


def _weight_in(text: str, weights: Mapping[str, float]) -> float:
    head = terms(text)
    return sum(weight for term, weight in weights.items() if term in head)
