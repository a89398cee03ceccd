"""Unanswerable questions for an operator who has none, clearly marked as synthetic.

A section is held out, as if it had never been written, and what it answers is asked. Such questions
are about the corpus and yet have no answer in it: the hardest kind, harder than most real ones.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from evals.errors import EvalSetError
from evals.observations import Observation, Searches, observe
from evals.places import Places, normal
from evals.ranking import SectionsOf
from evals.sets import EvalSet, Question, Section
from retrieval.store import Filter

SYNTHETIC_BAND = "synthetic_held_out"
FOREIGN_BAND = "another_corpus"
NEAR_MISS_BAND = "near_miss_held_out"

_LEAST_WORDS = 2
_MOST_WORDS = 9
_WORD = re.compile(r"[A-Za-z][\w'-]+")
# Headings that stand in every document name nothing that could be asked about.
_EMPTY_HEADINGS = frozenset(
    {
        *("introduction", "overview", "summary", "notes", "note", "example", "examples", "see"),
        *("also", "next", "steps", "contents", "references", "description", "usage", "faq"),
        *("more", "information", "related"),
    }
)


@dataclass(frozen=True, slots=True)
class HeldOut:
    """A question with the sections, or chunks, that must be hidden when it is asked."""

    question: Question
    section_ids: frozenset[str]


def near_misses(questions: Sequence[Question]) -> tuple[HeldOut, ...]:
    """Return labelled questions as negatives: their own sections are hidden."""
    return tuple(
        HeldOut(
            one.model_copy(update={"band": NEAR_MISS_BAND, "answerable": False}),
            frozenset(one.relevant_ids),
        )
        for one in questions
        if one.relevant_ids
    )


def synthetic(sections: Sequence[Section], count: int) -> tuple[HeldOut, ...]:
    """Return questions about sections' own headings, those sections being hidden.

    The heading is what its section is about, in the corpus's own words. Sections are chosen by
    hash, so that the same corpus gives the same questions.

    Args:
        sections: Of the corpus, with headings.
        count: At most so many questions.
    """
    asked: dict[str, HeldOut] = {}
    for section in sorted(sections, key=lambda one: hashlib.sha256(one.id.encode()).digest()):
        heading = " ".join(section.heading.split()).strip(" .:?!")
        if not _names_something(heading) or heading.casefold() in asked:
            continue
        alike = (one.id for one in sections if one.heading.casefold() == section.heading.casefold())
        question = Question(
            id=f"synthetic-{hashlib.sha256(section.id.encode()).hexdigest()[:10]}",
            question=_ask(heading),
            answerable=False,
            kind="unanswerable",
            band=SYNTHETIC_BAND,
        )
        asked[heading.casefold()] = HeldOut(question, frozenset(alike))
        if len(asked) == count:
            break
    return tuple(asked.values())


def synthetic_questions(headings: Sequence[str], count: int) -> tuple[Question, ...]:
    """Return questions about headings, each to be asked while its heading is held out.

    Headings are chosen by hash, so that the same index gives the same questions.

    Args:
        headings: Of the index, each once and plain.
        count: At most so many questions.
    """
    telling = [each for each in headings if _names_something(each)]
    chosen = sorted(telling, key=lambda each: hashlib.sha256(each.encode()).digest())
    return tuple(
        Question(
            id=f"synthetic-{hashlib.sha256(heading.encode()).hexdigest()[:10]}",
            question=_ask(heading),
            answerable=False,
            kind="unanswerable",
            band=SYNTHETIC_BAND,
            held_out=heading,
        )
        for heading in chosen[:count]
    )


def hide_headings(questions: Sequence[Question], places: Places) -> tuple[HeldOut, ...]:
    """Return synthetic questions with what must be hidden of an index.

    Args:
        questions: With the heading each holds out.
        places: Of that index.

    Raises:
        EvalSetError: The index has no such heading, so that nothing would be hidden.
    """
    found: list[HeldOut] = []
    for one in questions:
        hidden = places.under.get(normal(one.held_out), frozenset[str]())
        if not hidden:
            message = (
                f"{one.id} holds out {one.held_out!r}, which is no heading of this index; make "
                "the synthetic questions again with `vouch negatives`"
            )
            raise EvalSetError(message)
        found.append(HeldOut(one.model_copy(update={"band": SYNTHETIC_BAND}), hidden))
    return tuple(found)


async def observe_synthetic(
    searches: Searches, questions: Sequence[Question], places: Places
) -> tuple[Observation, ...]:
    """Search for each synthetic question without the passages under its heading.

    Raises:
        EvalSetError: As for ``hide_headings``.
    """
    by_chunk = {chunk_id: (chunk_id,) for chunk_id in places.documents_of}
    return await observe_held_out(searches, hide_headings(questions, places), by_chunk)


def foreign(sets: Sequence[EvalSet]) -> tuple[Question, ...]:
    """Return the questions of other corpora, which this one does not answer.

    Args:
        sets: About other matters; the caller vouches for that.
    """
    return tuple(
        one.model_copy(
            update={"id": f"{other.name}/{one.id}", "band": FOREIGN_BAND, "answerable": False}
        )
        for other in sets
        for one in (*other.queries, *other.short, *other.unanswerable)
    )


async def observe_held_out(
    searches: Searches, held_out: Sequence[HeldOut], sections_of: SectionsOf
) -> tuple[Observation, ...]:
    """Search for each question without its sections."""
    return await observe(
        searches,
        [one.question for one in held_out],
        "unanswerable",
        where=[without(one.section_ids, sections_of) for one in held_out],
    )


def without(section_ids: frozenset[str], sections_of: SectionsOf) -> Filter:
    """Return a filter that hides sections, as if they had never been written."""
    kept = (chunk for chunk, ids in sections_of.items() if not section_ids.intersection(ids))
    return Filter(chunk_ids=tuple(kept), all_labels=True)


def _names_something(heading: str) -> bool:
    words = _WORD.findall(heading)
    telling = [word for word in words if word.casefold() not in _EMPTY_HEADINGS]
    return len(words) <= _MOST_WORDS and len(telling) >= _LEAST_WORDS


def _ask(heading: str) -> str:
    first = heading.split(maxsplit=1)[0].casefold()
    if first in {"how", "what", "when", "where", "why", "which", "who", "can", "is", "does"}:
        return f"{heading}?"
    if first.endswith("ing") or first in {"use", "create", "set", "get", "add", "install", "run"}:
        return f"How does {heading[0].lower()}{heading[1:]} work?"
    return f"What does the documentation say about {heading}?"
