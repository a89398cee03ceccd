"""What a passage earns by its own words: the best cosine and BM25 that no header lifted.

The embedded text of a chunk begins with the title and headings it stands under. Below a fitting
title, a body about something else comes near a question it has nothing to do with. A passage is
therefore asked for words of its own: one whose header holds a tenth of the question's weight while
its text and own heading hold less does not vouch with its numbers, and the next best does. Where
the header has none of the words either, as with a question in another language, nothing is lifted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from retrieval.chunk import Chunk
from retrieval.focus import Analyser
from retrieval.fusion import Scored

LEAST_COVERAGE = 0.1
"""Share of the question's IDF weight that a passage must hold itself."""

NOTHING_EARNED = -1.0
"""The own cosine when every passage is lifted by its header: the least there is."""


def by_cosine(candidates: Sequence[Scored]) -> list[Scored]:
    """Return candidates from the closest down; equal ones in the order of their ids."""
    return sorted(candidates, key=lambda each: (-each.cosine, each.chunk_id))


def by_bm25(candidates: Sequence[Scored]) -> list[Scored]:
    """Return candidates from the highest BM25 down; equal ones in the order of their ids."""
    return sorted(candidates, key=lambda each: (-each.bm25, each.chunk_id))


def is_lifted(chunk: Chunk, weights: Mapping[int, float], analyser: Analyser) -> bool:
    """Return whether a chunk owes its nearness to the title and headings above it.

    Its own heading counts as its own words: "Default port" above "8080" is what the passage says.
    The title of the document does not, even where it is the only heading.

    Args:
        chunk: With its own text and what was embedded of it.
        weights: IDF by term id of the question.
        analyser: Gives the term ids of a text.
    """
    place = chunk.occurrences[0]
    is_title = place.section_heading.casefold() == place.title.casefold()
    said = chunk.text if is_title else f"{place.section_heading}\n{chunk.text}"
    if _coverage(said, weights, analyser) >= LEAST_COVERAGE:
        return False
    return _coverage(chunk.text_for_embedding, weights, analyser) >= LEAST_COVERAGE


def _coverage(text: str, weights: Mapping[int, float], analyser: Analyser) -> float:
    total = math.fsum(weights.values())
    found = weights.keys() & set(analyser.embed_document(text).indices)
    return math.fsum(weights[term] for term in found) / total if total > 0 else 0.0
