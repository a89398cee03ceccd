"""From chunks to the corpus's own sections, and why a labelled section was not among the first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evals.measures import Ranked
from evals.sets import Question
from retrieval.search import SearchOutcome

FailureKind = Literal["never_retrieved", "below_cutoff", "retrieved_not_used", "stale"]
FAILURE_KINDS: tuple[FailureKind, ...] = (
    "never_retrieved",
    "below_cutoff",
    "retrieved_not_used",
    "stale",
)

SectionsOf = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Failure:
    """A labelled section that the first k do not show.

    Attributes:
        kind: ``never_retrieved``: in neither list; ``below_cutoff``: found, ranked lower;
            ``retrieved_not_used``: ranked high enough, then left out as a duplicate or by a cap;
            ``stale``: the index does not hold it at all.
        place: Its place among the sections, from 1; None when it has none.
    """

    question: Question
    section_id: str
    kind: FailureKind
    place: int | None


def sections_in_order(chunk_ids: Sequence[str], sections_of: SectionsOf) -> tuple[str, ...]:
    """Return section ids in the order of their best chunks; several chunks count once."""
    found = (section for chunk in chunk_ids for section in sections_of.get(chunk, ()))
    return tuple(dict.fromkeys(found))


def ranked(question: Question, outcome: SearchOutcome, sections_of: SectionsOf) -> Ranked:
    """Return a question's ranking of sections, over all candidates that were fused."""
    order = outcome.trace.reranked or outcome.trace.fused
    return Ranked(
        question.id, sections_in_order(order, sections_of), frozenset(question.relevant_ids)
    )


def failures(
    question: Question, outcome: SearchOutcome, sections_of: SectionsOf, k: int
) -> list[Failure]:
    """Return each labelled section missing from the first k, with its kind.

    Args:
        question: With its labels.
        outcome: Of a search for at least k sections.
        sections_of: Chunk id to section ids, over the whole index.
        k: Cut-off, in sections.
    """
    indexed = {section for ids in sections_of.values() for section in ids}
    ranking = ranked(question, outcome, sections_of).ranking
    shown = set(sections_in_order([hit.chunk.chunk_id for hit in outcome.hits], sections_of))
    found: list[Failure] = []
    for section in question.relevant_ids:
        place = ranking.index(section) + 1 if section in ranking else None
        if section not in indexed:
            found.append(Failure(question, section, "stale", None))
        elif place is None:
            found.append(Failure(question, section, "never_retrieved", None))
        elif place > k:
            found.append(Failure(question, section, "below_cutoff", place))
        elif section not in shown:
            found.append(Failure(question, section, "retrieved_not_used", place))
    return found


def counted(found: Sequence[Failure]) -> dict[FailureKind, int]:
    """Return how many failures there are of each kind."""
    by_kind = Counter(failure.kind for failure in found)
    return {kind: by_kind[kind] for kind in FAILURE_KINDS}
