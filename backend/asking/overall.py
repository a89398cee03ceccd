"""Puts the parts of a question together again: hits, verdicts and what the agent wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from agent.contract import AgentOutcome, Evidence, TokenUsage
from backend.citing.markers import find_markers, keep_markers
from backend.contract import GuardView
from knowledge.contracts import SearchHit, SearchResult, StageOrder


@dataclass(frozen=True, slots=True)
class PartVerdict:
    """One part of the question with the guard's own search and verdict on it.

    Attributes:
        stages: Candidate ids in the order each stage of that search left them.
    """

    text: str
    search: SearchResult
    guard: GuardView
    stages: StageOrder = field(default_factory=StageOrder)


def merge_hits(searches: Sequence[SearchResult]) -> tuple[SearchHit, ...]:
    """Return the hits of all searches, each chunk once, in order of their first place."""
    merged: dict[str, SearchHit] = {}
    for search in searches:
        for hit in search.hits:
            merged.setdefault(hit.chunk_id, hit)
    return tuple(merged.values())


def overall_verdict(parts: Sequence[PartVerdict]) -> GuardView:
    """Return the verdict on the whole: passed when any part passed.

    The numbers are those of the first part that passed, else of the part that came closest.
    """
    passing = [part for part in parts if part.guard.passed]
    chosen = passing[0] if passing else max(parts, key=_closeness)
    failing = [part.text for part in parts if not part.guard.passed]
    if not passing or not failing:
        return chosen.guard
    named = "; ".join(failing)
    return chosen.guard.model_copy(
        update={"reason": f"{chosen.guard.reason} Not enough was found for: {named}"}
    )


@dataclass(frozen=True, slots=True)
class JoinedOutcome:
    """What the agent wrote for all parts.

    Attributes:
        removed_markers: Numbers outside the evidence that joining had to take out already.
    """

    outcome: AgentOutcome
    removed_markers: tuple[int, ...] = ()


def name_refused(answers: Sequence[tuple[PartVerdict, AgentOutcome]]) -> list[AgentOutcome]:
    """Return the outcomes, each refused part of several named as not found."""
    return [
        replace(outcome, not_found=(part.text,))
        if outcome.status == "refused" and len(answers) > 1
        else outcome
        for part, outcome in answers
    ]


def join_outcomes(outcomes: Sequence[AgentOutcome]) -> JoinedOutcome:
    """Return one outcome for all parts: evidence numbered anew, markers following it.

    Parts the agent refused are left out of the text; when it refused all, the whole is refused.
    """
    if len(outcomes) == 1:
        return JoinedOutcome(outcomes[0])
    numbers: dict[str, int] = {}
    evidence: list[Evidence] = []
    texts: list[str] = []
    removed: list[int] = []
    for outcome in outcomes:
        places: dict[int, int] = {}
        for item in outcome.evidence:
            if item.chunk_id not in numbers:
                numbers[item.chunk_id] = len(numbers) + 1
                evidence.append(replace(item, number=numbers[item.chunk_id]))
            places[item.number] = numbers[item.chunk_id]
        if outcome.status == "answered":
            kept = keep_markers(outcome.text, places.keys())
            removed += kept.removed
            texts.append(_renumber(kept.text, places))
    return JoinedOutcome(_sum_up(outcomes, evidence, texts), tuple(removed))


def _sum_up(
    outcomes: Sequence[AgentOutcome], evidence: Sequence[Evidence], texts: Sequence[str]
) -> AgentOutcome:
    first = outcomes[0]
    return AgentOutcome(
        kind=first.kind,
        model=first.model,
        status="answered" if texts else "refused",
        text="\n\n".join(texts or [outcome.text for outcome in outcomes]),
        evidence=tuple(evidence),
        tool_calls=tuple(call for outcome in outcomes for call in outcome.tool_calls),
        rounds=sum(outcome.rounds for outcome in outcomes),
        tokens=TokenUsage(
            prompt=sum(outcome.tokens.prompt for outcome in outcomes),
            completion=sum(outcome.tokens.completion for outcome in outcomes),
        ),
        not_found=tuple(text for outcome in outcomes for text in outcome.not_found),
        degraded=tuple(dict.fromkeys(name for each in outcomes for name in each.degraded)),
        prompt=tuple(message for outcome in outcomes for message in outcome.prompt),
        audit=tuple(row for outcome in outcomes for row in outcome.audit),
        packing=tuple(each for outcome in outcomes for each in outcome.packing),
    )


def _closeness(part: PartVerdict) -> float:
    guard = part.guard
    if guard.probability is not None:
        return guard.probability
    return -2.0 if guard.best_cosine is None else guard.best_cosine


def _renumber(text: str, places: Mapping[int, int]) -> str:
    pieces: list[str] = []
    end = 0
    for marker in find_markers(text):
        named = "".join(f"[{places[number]}]" for number in marker.numbers)
        pieces += [text[end : marker.start], named]
        end = marker.end
    return "".join([*pieces, text[end:]])
