"""What another threshold would have decided over recorded and labelled questions. Pure.

The verdict is the guard's own function over the recorded signals, so what is shown here is what
would have happened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from backend.asking.overall import PartVerdict, overall_verdict
from backend.desk.labelled_set import is_answerable
from backend.verdict.guard import CalibratedRule, FixedRule, Rule, compared_number, judge
from knowledge.contracts import SearchResult
from storage.asks import AskRecord

_STEPS = 100


@dataclass(frozen=True, slots=True)
class PastAsk:
    """One recorded ask as far as its verdict goes.

    Attributes:
        searches: The guard's searches by part.
        has_passed: What was decided then.
        answerable: As a reviewer labelled it; None without a label.
    """

    ask_id: str
    question: str
    searches: tuple[tuple[str, SearchResult], ...]
    has_passed: bool
    answerable: bool | None


@dataclass(frozen=True, slots=True)
class Rejudged:
    """One ask under another rule.

    Attributes:
        number: What is compared with the threshold; None when no threshold lets it pass.
    """

    ask: PastAsk
    passes: bool
    number: float | None

    @property
    def is_flipped(self) -> bool:
        """Whether the verdict is another one."""
        return self.passes != self.ask.has_passed


@dataclass(frozen=True, slots=True)
class Rates:
    """Mistakes at one threshold over the labelled questions.

    Attributes:
        leak: Share of unanswerable questions that pass; None without any.
        over_refusal: Share of answerable questions that are refused; None without any.
    """

    threshold: float
    leak: float | None
    over_refusal: float | None


def read_past(record: AskRecord, label: str = "") -> PastAsk | None:
    """Return a record's part in the comparison, or None when there was nothing to judge.

    Args:
        record: As it was stored.
        label: Of a reviewer; empty for none.
    """
    searches = tuple(
        (str(part["text"]), SearchResult.model_validate(part["search"])) for part in record.searches
    )
    if not searches or record.status == "needs_clarification":
        return None
    answerable = is_answerable(label, record.status) if label else None
    has_passed = bool(record.verdict.get("passed"))
    return PastAsk(record.id, record.search_question, searches, has_passed, answerable)


def with_threshold(rule: Rule, threshold: float) -> Rule:
    """Return a rule with another threshold, on the number it compares."""
    if isinstance(rule, FixedRule):
        return FixedRule(threshold, is_default=False)
    return replace(rule, artefact=rule.artefact.model_copy(update={"threshold": threshold}))


def threshold_of(rule: Rule) -> float:
    """Return a rule's threshold, on the number it compares."""
    return rule.artefact.threshold if isinstance(rule, CalibratedRule) else rule.threshold_cosine


def rejudge(asks: Sequence[PastAsk], rule: Rule) -> tuple[Rejudged, ...]:
    """Return every ask as the guard would judge it under a rule."""
    return tuple(_rejudge(ask, rule) for ask in asks)


def rates(rejudged: Sequence[Rejudged], threshold: float) -> Rates:
    """Return the mistakes at a threshold; a number exactly at it passes."""
    numbers = {
        answerable: [one.number for one in rejudged if one.ask.answerable is answerable]
        for answerable in (True, False)
    }
    refused = {
        answerable: sum(number is None or number < threshold for number in found) / len(found)
        if found
        else None
        for answerable, found in numbers.items()
    }
    kept = refused[False]
    return Rates(threshold, None if kept is None else 1.0 - kept, refused[True])


def curve(rejudged: Sequence[Rejudged]) -> tuple[Rates, ...]:
    """Return the mistakes at thresholds from 0 to 1 in even steps."""
    return tuple(rates(rejudged, step / _STEPS) for step in range(_STEPS + 1))


def _rejudge(ask: PastAsk, rule: Rule) -> Rejudged:
    parts = [PartVerdict(text, found, judge(found.signals, rule)) for text, found in ask.searches]
    # Any part that passes lets the whole pass, so the largest number decides.
    numbers = [compared_number(found.signals, rule) for _, found in ask.searches]
    number = max((one for one in numbers if one is not None), default=None)
    return Rejudged(ask, overall_verdict(parts).passed, number)
