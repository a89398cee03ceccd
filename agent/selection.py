"""Which sentences of the received passages are quoted. Pure, no model.

The unit that fits best comes first; then at most two more that cover something new or fit nearly as
well, and the sentence before one that leans on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent.contract import Evidence
from agent.fit import Candidate, reach_of, read_candidates, share_of
from agent.forms import is_dangling
from agent.words import is_code_name, settings_of

# Chosen on the development half of the labelled questions.
_GAIN_FLOOR = 0.16
_FIT_FLOOR = 0.55
_FIT_SHARE = 0.6
_CLOSE_FIT = 0.88
_MOST_UNITS = 3


@dataclass(frozen=True, slots=True)
class Selection:
    """The chosen units in reading order.

    Attributes:
        reach: Most that any single unit with its headings covers of the question's words, each
            counted alike but for frame words, in [0, 1]. Of five measures tried it separates
            questions that the passages answer from others best (AUROC .90).
    """

    chosen: tuple[Candidate, ...]
    reach: float


def select(question: str, evidence: Sequence[Evidence]) -> Selection:
    """Choose the units that together cover the question.

    Args:
        question: The standalone question.
        evidence: Passages in the order of their search.
    """
    weights, found = read_candidates(question, evidence)
    if not found or _lacks_a_name(question, found):
        return Selection((), 0.0)
    chosen = _with_antecedents(_choose(found, weights), found)
    return Selection(chosen, max(reach_of(each.covered) for each in found))


def _lacks_a_name(question: str, found: Sequence[Candidate]) -> bool:
    """Whether the question names what no passage contains at all.

    Of an identifier or operator nothing can then be said, whatever else the passages share with the
    question; and what they say does not hold in another world ("a class in Java").
    """
    settings = settings_of(question)
    named = [term for term in found[0].covered if is_code_name(term) or term in settings]
    return any(not any(each.covered[term] for each in found) for term in named)


def _with_antecedents(
    chosen: Sequence[Candidate], found: Sequence[Candidate]
) -> tuple[Candidate, ...]:
    """Put the sentence before each quoted one that leans on it ("This ...", "It ...")."""
    whole: list[Candidate] = []
    for each in chosen:
        before = next((other for other in found if _precedes(other, each)), None)
        if before and is_dangling(each.unit.text) and before not in (*chosen, *whole):
            whole.append(before)
        whole.append(each)
    return tuple(whole)


def _precedes(other: Candidate, each: Candidate) -> bool:
    return (
        other.passage is each.passage
        and other.unit.block == each.unit.block
        and other.unit.index == each.unit.index - 1
    )


def _choose(candidates: Sequence[Candidate], weights: dict[str, float]) -> tuple[Candidate, ...]:
    best = max(candidates, key=lambda each: each.fit)
    chosen = [best]
    covered = dict(best.covered)
    while len(chosen) < _MOST_UNITS:
        added = _next(candidates, chosen, covered, weights)
        if added is None:
            break
        chosen.append(added)
        covered = _joined(covered, added.covered)
    return tuple(
        sorted(
            chosen,
            key=lambda each: (
                each.passage.number != best.passage.number,
                each.passage.number,
                each.unit.index,
            ),
        )
    )


def _next(
    candidates: Sequence[Candidate],
    chosen: Sequence[Candidate],
    covered: dict[str, float],
    weights: dict[str, float],
) -> Candidate | None:
    """Return the candidate that adds most, or None when none adds enough."""
    before = share_of(covered, weights)
    first = chosen[0].fit
    best: Candidate | None = None
    best_worth = 0.0
    for each in candidates:
        if any(_repeats(each, other) for other in chosen):
            continue
        gain = share_of(_joined(covered, each.covered), weights) - before
        adds = gain >= _GAIN_FLOOR and each.fit >= _FIT_FLOOR * first
        worth = gain + _FIT_SHARE * each.fit
        close = each.fit >= _CLOSE_FIT * first and each.unit.kind != "code"
        if (adds or close) and worth > best_worth:
            best, best_worth = each, worth
    return best


def _repeats(each: Candidate, other: Candidate) -> bool:
    """Whether one of two units already shows the other's words."""
    first, second = each.unit, other.unit
    if first.text == second.text:
        return True
    listed = (first.companion, second.text), (second.companion, first.text)
    return any(
        companion is not None and any(text in part for part in companion.parts)
        for companion, text in listed
    )


def _joined(first: dict[str, float], second: dict[str, float]) -> dict[str, float]:
    return {term: max(credit, second[term]) for term, credit in first.items()}
