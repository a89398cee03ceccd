"""How well each quotable unit fits a question. Pure, no model.

A unit gets a fit in about [0, 3]: how much of the question's weight its own words and its headings
cover, the standing of its passage in the search, and bonuses for the form the question asks for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from agent.contract import Evidence
from agent.forms import QuestionForm, form_bonus
from agent.instructions import QUOTABLE, instruction_suspicion
from agent.synonyms import MATCH_CREDIT, has_synonym
from agent.units import Unit, split_units
from agent.words import is_frame, question_terms, terms
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
_LONG_WORDS = 45
_SHORT_WORDS = 4
_SHORT_PENALTY = 0.4
_CODE_PENALTY = 0.28


@dataclass(frozen=True, slots=True)
class Candidate:
    """A unit in its passage with what it covers.

    Attributes:
        covered: Credit in [0, 1] of each question term.
        fit: Higher is better; about [0, 3].
    """

    passage: Evidence
    unit: Unit
    covered: dict[str, float]
    fit: float


def read_candidates(
    question: str, evidence: Sequence[Evidence]
) -> tuple[dict[str, float], list[Candidate]]:
    """Return the weight of each term of the question, and every quotable unit with its fit.

    Args:
        question: The standalone question.
        evidence: Passages in the order of their search.
    """
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
    weights = _weigh(wanted, bags)
    form = QuestionForm.of(question)
    standing = _standings(evidence)
    found = [
        Candidate(passage, unit, covered, fit)
        for (passage, unit), bag in zip(pool, bags, strict=True)
        for covered in (_covered(passage, unit, bag, weights),)
        for fit in (_fit(unit, covered, weights, form, standing[passage.number]),)
    ]
    return weights, found


def share_of(covered: dict[str, float], weights: dict[str, float]) -> float:
    """Return the share of the question's weight that is covered, in [0, 1]."""
    return sum(weights[term] * credit for term, credit in covered.items()) / sum(weights.values())


def reach_of(covered: dict[str, float]) -> float:
    """Return the share of the question's words a unit covers, alike but for frame words."""
    counted = {term: _FRAME_WEIGHT if is_frame(term) else 1.0 for term in covered}
    return share_of(covered, counted)


def _weigh(wanted: Sequence[str], bags: Sequence[frozenset[str]]) -> dict[str, float]:
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
    coverage = share_of(covered, weights)
    return (
        coverage
        + _STANDING_WEIGHT * standing
        + form_bonus(form, unit, weights)
        + _subject_bonus(unit, weights)
        + _OPENING_BONUS * unit.is_opening
        - _length_penalty(unit)
    )


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
