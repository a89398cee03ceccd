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
from agent.forms import QuestionForm, form_bonus, is_dangling
from agent.instructions import QUOTABLE, instruction_suspicion
from agent.synonyms import MATCH_CREDIT, has_synonym
from agent.units import Unit, split_units
from agent.words import is_code_name, is_frame, question_terms, terms
from prose.words import parts, stem

# Weights of a linear ranker fitted on the development half of the labelled questions (pairs of the
# labelled sentence against all others), then rounded.
_SUBJECT_CREDIT = 0.95
_HEADING_CREDIT = 0.6
_PART_CREDIT = 0.6
_FRAME_WEIGHT = 0.3
_ABSENT_WEIGHT = 0.5
_STANDING_WEIGHT = 1.2
_OPENING_BONUS = 0.1
_GAIN_FLOOR = 0.16
_FIT_FLOOR = 0.55
_FIT_SHARE = 0.6
_CLOSE_FIT = 0.88
_LONG_WORDS = 45
_SHORT_WORDS = 4
_SHORT_PENALTY = 0.4
_CODE_PENALTY = 0.28
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
    weights, found = _read(question, evidence)
    if not found or _lacks_a_name(found):
        return Selection((), 0.0)
    chosen = _with_antecedents(_choose(found, weights), found)
    return Selection(chosen, max(_reach(each.covered) for each in found))


def candidates(question: str, evidence: Sequence[Evidence]) -> list[Candidate]:
    """Return every quotable unit with its fit, in reading order; arguments as ``select``."""
    return _read(question, evidence)[1]


def _read(question: str, evidence: Sequence[Evidence]) -> tuple[dict[str, float], list[Candidate]]:
    wanted = question_terms(question)
    pool = [
        (passage, unit)
        for passage in evidence
        for unit in split_units(passage.text)
        if instruction_suspicion(unit.full_text) < QUOTABLE
    ]
    if not wanted or not pool:
        return dict.fromkeys(wanted, 1.0), []
    bags = [terms(unit.full_text) for _, unit in pool]
    weights = _weights(wanted, bags)
    form = QuestionForm.of(question)
    standing = _standings(evidence)
    found = [
        Candidate(passage, unit, covered, fit)
        for (passage, unit), bag in zip(pool, bags, strict=True)
        for covered in (_covered(passage, unit, bag, weights),)
        for fit in (_fit(unit, covered, weights, form, standing[passage.number]),)
    ]
    return weights, found


def _lacks_a_name(found: Sequence[Candidate]) -> bool:
    """Whether the question names an identifier or operator that no passage contains at all.

    Nothing can then be said about it, whatever else the passages share with the question.
    """
    named = [term for term in found[0].covered if is_code_name(term)]
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


def _weights(wanted: Sequence[str], bags: Sequence[frozenset[str]]) -> dict[str, float]:
    """Weigh each term by its rarity over all units; one that none has tells little."""
    total = len(bags)
    weights: dict[str, float] = {}
    for term in wanted:
        seen = sum(_credit(term, bag) > 0 for bag in bags)
        rarity = max(0.1, math.log(1 + (total - seen + 0.5) / (seen + 0.5)))
        absent = _ABSENT_WEIGHT if not seen else 1.0
        weights[term] = rarity * absent * (_FRAME_WEIGHT if is_frame(term) else 1.0)
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
    if pieces and bag.issuperset(pieces):
        return _PART_CREDIT
    return MATCH_CREDIT if has_synonym(term, bag) else 0.0


def _reach(covered: dict[str, float]) -> float:
    counted = {term: _FRAME_WEIGHT if is_frame(term) else 1.0 for term in covered}
    return _share(covered, counted)


def _covered(
    passage: Evidence, unit: Unit, bag: frozenset[str], weights: dict[str, float]
) -> dict[str, float]:
    """Return the credit of each term: in full in the unit's own words, less in its headings."""
    subject = terms(unit.names.signature)
    place = f"{passage.parent_heading} {passage.section_heading} {passage.title}"
    heading = terms(f"{unit.names.heading} {place}")
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
        + _STANDING_WEIGHT * standing
        + form_bonus(form, unit, weights)
        + _subject_bonus(unit, weights)
        + _OPENING_BONUS * unit.is_opening
        - _length_penalty(unit)
    )


def _share(covered: dict[str, float], weights: dict[str, float]) -> float:
    return sum(weights[term] * credit for term, credit in covered.items()) / sum(weights.values())


def _subject_bonus(unit: Unit, weights: dict[str, float]) -> float:
    """Reward what stands under the signature of an identifier the question names."""
    lines = [line.split("(") for line in unit.names.signature.splitlines() if "(" in line]
    names = {stem(name.split()[-1].rsplit(".")[-1]) for name, *_ in lines if name.strip()}
    return (0.3 if unit.is_opening else 0.15) * bool(names & weights.keys())


def _length_penalty(unit: Unit) -> float:
    words = len(unit.text.split())
    if words < _SHORT_WORDS:
        return _SHORT_PENALTY
    return min(0.3, max(0, words - _LONG_WORDS) / 200) + _CODE_PENALTY * (unit.kind == "code")


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
    before = _share(covered, weights)
    first = chosen[0].fit
    best: Candidate | None = None
    best_worth = 0.0
    for each in candidates:
        if any(_repeats(each, other) for other in chosen):
            continue
        gain = _share(_joined(covered, each.covered), weights) - before
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
