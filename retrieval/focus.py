"""Do the question's words stand together? Coverage within a few neighbouring sentences.

A chunk of several subjects can hold all words of a question without one sentence about it. The
share of the question's weight inside the best window of three sentences separates answerable from
unanswerable questions better than any other single signal measured (AUROC .98 against .97 for
normalised BM25 and .90 for cosine, on short questions over documentation). Only the passage's own
text counts: a header cannot lift it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from retrieval.asked_value import asked_kind, holds_value
from retrieval.chunk import SparseVector

FOCUS_PASSAGES = 4
"""Passages of the fused head that are looked at."""

WINDOW_SENTENCES = 3
"""Neighbouring sentences that count as one place."""

_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n")
# "What two steps ..." asks for a count of things, it does not talk about the number two.
_COUNTS = "one two three four five six seven eight nine ten several"


class Analyser(Protocol):
    """Reads the terms of a text: the sparse encoder of the build."""

    def embed_document(self, text: str) -> SparseVector:
        """Return the terms of a passage."""
        ...

    def embed_query(self, text: str) -> SparseVector:
        """Return the terms of a query."""
        ...


@dataclass(frozen=True, slots=True)
class Focus:
    """How much of a question stands in one place of the evidence.

    Attributes:
        coverage: Share of the question's IDF weight inside the best window, in [0, 1].
        value_coverage: The same over windows that hold a value of the kind asked for; equal to
            ``coverage`` when no value is asked for, 0 when no window holds one.
    """

    coverage: float
    value_coverage: float


def focus(
    question: str, passages: Sequence[str], weights: Mapping[int, float], analyser: Analyser
) -> Focus:
    """Measure the best window over some passages.

    Args:
        question: As asked.
        passages: Exact texts of the best few hits.
        weights: IDF by term id of the question; a term the index does not know weighs most.
        analyser: Gives the term ids of a sentence.
    """
    ignored = set(analyser.embed_query(_COUNTS).indices)
    counted = {term: weight for term, weight in weights.items() if term not in ignored}
    total = sum(counted.values())
    if total <= 0:
        return Focus(coverage=0.0, value_coverage=0.0)
    kind = asked_kind(question)
    best = best_with_value = 0.0
    for passage in passages:
        sentences = [part for part in _SENTENCE_END.split(passage) if part.strip()]
        terms = [counted.keys() & set(analyser.embed_document(one).indices) for one in sentences]
        has_value = [holds_value(sentence, kind, question) for sentence in sentences]
        for start in range(len(sentences)):
            window = slice(start, start + WINDOW_SENTENCES)
            found = sum(counted[term] for term in set[int]().union(*terms[window])) / total
            best = max(best, found)
            if any(has_value[window]):
                best_with_value = max(best_with_value, found)
    return Focus(coverage=best, value_coverage=best_with_value)
