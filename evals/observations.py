"""What one search says of each question: the signals that verdicts are learnt from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from evals.sets import EvalSet, Question
from retrieval.search import SearchOutcome, SearchSignals
from retrieval.store import Filter

Kind = Literal["short", "long", "unanswerable"]

TOP_K = 4
EVERYTHING = Filter(all_labels=True)
_SNIPPET_CHARACTERS = 80
_NEAREST = 2


class Searches(Protocol):
    """An index that answers searches: a scratch build, or the one that is served."""

    async def search(
        self, question: str, *, top_k: int, where: Filter = EVERYTHING
    ) -> SearchOutcome:
        """Return what the engine finds."""
        ...


@dataclass(frozen=True, slots=True)
class Observation:
    """One question with its signals.

    Attributes:
        band: How far an unanswerable question is from the corpus; the kind for the others.
        signals: Name to number, every signal of the search.
        nearest: The closest passages in a few words, for a person who asks why.
    """

    question_id: str
    question: str
    kind: Kind
    band: str
    signals: dict[str, float]
    nearest: tuple[str, ...] = ()

    @property
    def is_answerable(self) -> bool:
        """Whether the corpus answers it."""
        return self.kind != "unanswerable"


async def observe_set(searches: Searches, eval_set: EvalSet) -> tuple[Observation, ...]:
    """Search for every question of a set whose answerability is known."""
    queries = _answerable(eval_set.queries)
    short = [*_answerable(eval_set.short), *(one for one in queries if one.kind == "short")]
    long = [one for one in queries if one.kind != "short"]
    return (
        *await observe(searches, short, "short"),
        *await observe(searches, long, "long"),
        *await observe(searches, eval_set.unanswerable, "unanswerable"),
    )


def _answerable(questions: Sequence[Question]) -> list[Question]:
    """Return those said to be answerable; where no row says anything, all of them."""
    said = [one for one in questions if one.answerable is not None]
    return [one for one in said if one.answerable] if said else list(questions)


async def observe(
    searches: Searches,
    questions: Sequence[Question],
    kind: Kind,
    *,
    where: Sequence[Filter] | None = None,
) -> tuple[Observation, ...]:
    """Search for each question and keep its signals.

    Args:
        searches: The index.
        questions: All of one kind.
        kind: What they are.
        where: A filter for each question (to hide its labelled sections); None hides nothing.
    """
    filters = where or [EVERYTHING] * len(questions)
    found: list[Observation] = []
    for question, allowed in zip(questions, filters, strict=True):
        outcome = await searches.search(question.question, top_k=TOP_K, where=allowed)
        found.append(
            Observation(
                question.id,
                question.question,
                kind,
                question.band or kind,
                numbers_of(outcome.signals),
                tuple(_snippets(outcome)),
            )
        )
    return tuple(found)


def numbers_of(signals: SearchSignals) -> dict[str, float]:
    """Return every signal by name, as the guard judges them; no hit at all counts as cosine -1."""
    return earned(
        {
            "best_cosine": -1.0 if signals.best_cosine is None else signals.best_cosine,
            "cosine_margin": signals.cosine_margin,
            "sparse_per_term": signals.sparse_per_term,
            "term_coverage": signals.term_coverage,
            "unknown_terms": signals.unknown_terms,
            "hit_count": float(signals.hit_count),
            **signals.more,
        }
    )


def earned(numbers: Mapping[str, float]) -> dict[str, float]:
    """Return signals with the two that a header can lift cut to what passages say themselves."""
    own = {"best_cosine": "own_cosine", "sparse_per_term": "own_sparse_per_term"}
    cut = {
        name: min(numbers[name], numbers.get(source, numbers[name]))
        for name, source in own.items()
        if name in numbers
    }
    return {**numbers, **cut}


def _snippets(outcome: SearchOutcome) -> list[str]:
    return [
        f"{hit.occurrence.section_heading or hit.occurrence.title} (cosine {hit.cosine:.2f}): "
        f"{' '.join(hit.chunk.text.split())[:_SNIPPET_CHARACTERS]}"
        for hit in outcome.hits[:_NEAREST]
    ]
