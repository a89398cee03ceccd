"""Which sentences of the received passages answer a question best. Pure, no model.

Each unit gets a fit in about [0, 1.5]: how much of the question's weight its own words and its
headings cover, the standing of its passage, and small bonuses for the form the question asks for.
Then units are taken greedily while they cover something new.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from agent.contract import Evidence
from agent.forms import QuestionForm, form_bonus
from agent.instructions import instruction_suspicion
from agent.units import Unit, split_units
from agent.words import is_frame, parts, question_terms, stem, terms

# Weights chosen on the development half of the labelled questions, by reading answers.
_SUBJECT_CREDIT = 0.75
_HEADING_CREDIT = 0.6
_PART_CREDIT = 0.6
_FRAME_WEIGHT = 0.3
_PASSAGE_WEIGHT = 0.35
_OPENING_BONUS = 0.04
_SUSPICION_WEIGHT = 2.0
_GAIN_FLOOR = 0.16
_FIT_FLOOR = 0.55
_FIT_SHARE = 0.3
_LONG_WORDS = 45
_SHORT_WORDS = 4
_MOST_UNITS = 3


@dataclass(frozen=True, slots=True)
class Candidate:
    """A unit in its passage with what it covers.

    Attributes:
        covered: Credit in [0, 1] of each question term.
        fit: Higher is better; about [0, 1.5].
    """

    passage: Evidence
    unit: Unit
    covered: dict[str, float]
    fit: float


@dataclass(frozen=True, slots=True)
class Selection:
    """The chosen units in reading order.

    Attributes:
        coverage: Share of the question's weight covered by their own words and headings, [0, 1].
        missing: Question terms that nothing chosen covers, heaviest first.
    """

    chosen: tuple[Candidate, ...]
    coverage: float
    missing: tuple[str, ...] = ()


def select(question: str, evidence: Sequence[Evidence]) -> Selection:
    """Choose the units that together cover the question.

    Args:
        question: The standalone question.
        evidence: Passages in the order of their search.
    """
    wanted = question_terms(question)
    pool = [(passage, unit) for passage in evidence for unit in split_units(passage.text)]
    if not wanted or not pool:
        return Selection((), 0.0, wanted)
    bags = [terms(unit.text) for _, unit in pool]
    weights = _weights(wanted, bags)
    form = QuestionForm.of(question)
    standing = _standings(evidence)
    candidates = [
        Candidate(passage, unit, covered, fit)
        for (passage, unit), bag in zip(pool, bags, strict=True)
        for covered in (_covered(passage, unit, bag, weights),)
        for fit in (_fit(unit, covered, weights, form, standing[passage.number]),)
    ]
    return _choose(candidates, weights)


def _weights(wanted: Sequence[str], bags: Sequence[frozenset[str]]) -> dict[str, float]:
    """Weigh each term by its rarity over all units; an absent term is the rarest."""
    total = len(bags)
    weights: dict[str, float] = {}
    for term in wanted:
        seen = sum(_credit(term, bag) == 1.0 for bag in bags)
        rarity = math.log(1 + (total - seen + 0.5) / (seen + 0.5))
        weights[term] = max(rarity, 0.1) * (_FRAME_WEIGHT if is_frame(term) else 1.0)
    return weights


def _standings(evidence: Sequence[Evidence]) -> dict[int, float]:
    """Return each passage's standing in [0, 1]: cosine against the best, and place."""
    best = max((passage.cosine or 0.0 for passage in evidence), default=0.0)
    standings: dict[int, float] = {}
    for place, passage in enumerate(evidence):
        near = (passage.cosine or 0.0) / best if best > 0 else 0.0
        standings[passage.number] = 0.6 * max(near, 0.0) ** 2 + 0.4 / (1 + place)
    return standings


def _credit(term: str, bag: frozenset[str]) -> float:
    if term in bag:
        return 1.0
    pieces = parts(term)
    return _PART_CREDIT if pieces and bag.issuperset(pieces) else 0.0


def _covered(
    passage: Evidence, unit: Unit, bag: frozenset[str], weights: dict[str, float]
) -> dict[str, float]:
    """Return the credit of each term: in full in the unit's own words, less in its headings."""
    subject = terms(unit.subject)
    heading = terms(f"{passage.parent_heading} {passage.section_heading} {passage.title}")
    return {
        term: max(
            _credit(term, bag),
            _SUBJECT_CREDIT * _credit(term, subject),
            _HEADING_CREDIT * _credit(term, heading),
        )
        for term in weights
    }


def _fit(
    unit: Unit,
    covered: dict[str, float],
    weights: dict[str, float],
    form: QuestionForm,
    standing: float,
) -> float:
    coverage = _share(covered, weights)
    return (
        coverage
        + _PASSAGE_WEIGHT * standing * min(1.0, coverage + 0.3)
        + form_bonus(form, unit, weights)
        + _subject_bonus(unit, weights)
        + _OPENING_BONUS * unit.is_opening
        - _length_penalty(unit)
        - _SUSPICION_WEIGHT * instruction_suspicion(unit.text)
    )


def _share(covered: dict[str, float], weights: dict[str, float]) -> float:
    return sum(weights[term] * credit for term, credit in covered.items()) / sum(weights.values())


def _subject_bonus(unit: Unit, weights: dict[str, float]) -> float:
    """Reward what stands under the signature of an identifier the question names."""
    if "(" not in unit.subject:
        return 0.0
    names = {
        stem(line.split("(")[0].split()[-1].rsplit(".")[-1]) for line in unit.subject.splitlines()
    }
    return (0.3 if unit.is_opening else 0.15) * bool(names & weights.keys())


def _length_penalty(unit: Unit) -> float:
    words = len(unit.text.split())
    if words < _SHORT_WORDS:
        return 0.3
    crowded = max(0, words - _LONG_WORDS) / 200
    return min(0.3, crowded) + (0.2 if unit.kind == "code" else 0.0)


def _choose(candidates: Sequence[Candidate], weights: dict[str, float]) -> Selection:
    best = max(candidates, key=lambda each: each.fit)
    chosen = [best]
    covered = dict(best.covered)
    while len(chosen) < _MOST_UNITS:
        added = _next(candidates, chosen, covered, weights)
        if added is None:
            break
        chosen.append(added)
        covered = _joined(covered, added.covered)
    missing = sorted((term for term in weights if not covered[term]), key=lambda t: -weights[t])
    order = sorted(
        chosen,
        key=lambda each: (
            each.passage.number != best.passage.number,
            each.passage.number,
            each.unit.index,
        ),
    )
    return Selection(tuple(order), _share(covered, weights), tuple(missing))


def _next(
    candidates: Sequence[Candidate],
    chosen: Sequence[Candidate],
    covered: dict[str, float],
    weights: dict[str, float],
) -> Candidate | None:
    """Return the candidate that adds most, or None when none adds enough."""
    before = _share(covered, weights)
    floor = _FIT_FLOOR * chosen[0].fit
    best: Candidate | None = None
    best_worth = 0.0
    for each in candidates:
        gain = _share(_joined(covered, each.covered), weights) - before
        worth = gain + _FIT_SHARE * each.fit
        if gain >= _GAIN_FLOOR and each.fit >= floor and worth > best_worth:
            best, best_worth = each, worth
    return best


def _joined(first: dict[str, float], second: dict[str, float]) -> dict[str, float]:
    return {term: max(credit, second[term]) for term, credit in first.items()}
