"""Refused questions grouped by what they are about: what the documentation lacks. Pure.

Average linkage on cosines: two groups join while the mean cosine between their questions is high
enough, the closest first, so that the order of the questions does not matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prose.words import STOP_WORDS, stem, surface_words

# Mean cosine within a topic; measured on planted questions with the packaged model.
JOINING_COSINE = 0.3
_HEADING_WORDS = 3


@dataclass(frozen=True, slots=True)
class Refused:
    """One refused question.

    Attributes:
        nearest: Heading of the passage that came nearest; empty when there was none.
        nearest_chunk: Its chunk.
        cosine: Of that passage.
    """

    ask_id: str
    question: str
    nearest: str = ""
    nearest_chunk: str = ""
    cosine: float | None = None


@dataclass(frozen=True, slots=True)
class Gap:
    """One topic that was asked for and is not there.

    Attributes:
        heading: Suggested for a section to write, of the words most questions share.
        questions: Newest first, as they were given.
        nearest: The question whose passage came nearest of all, to link to it.
    """

    heading: str
    questions: tuple[Refused, ...]
    nearest: Refused


def group(
    questions: Sequence[Refused],
    vectors: Sequence[Sequence[float]],
    joining_cosine: float = JOINING_COSINE,
) -> list[Gap]:
    """Return gaps, the most asked for first.

    Args:
        questions: In any order.
        vectors: Shape (n_questions, dimension), unit rows, in the same order.
        joining_cosine: Groups join down to this mean cosine, in [-1, 1].
    """
    members = cluster(np.asarray(vectors, dtype=np.float32), joining_cosine)
    gaps = [_describe([questions[place] for place in places]) for places in members]
    return sorted(gaps, key=lambda gap: (-len(gap.questions), gap.heading))


def cluster(vectors: np.ndarray, joining_cosine: float) -> list[list[int]]:
    """Return places of rows by group.

    Args:
        vectors: Shape (n, dimension), float32, unit rows.
        joining_cosine: Groups join down to this mean cosine.
    """
    members = [[place] for place in range(len(vectors))]
    if len(members) < 2:  # noqa: PLR2004 - there is nothing to join
        return members
    cosines = np.asarray(vectors @ vectors.T, dtype=np.float64)
    np.fill_diagonal(cosines, -np.inf)
    while True:
        one, other = sorted(int(i) for i in np.unravel_index(np.argmax(cosines), cosines.shape))
        if cosines[one, other] < joining_cosine:
            return [places for places in members if places]
        sizes = len(members[one]), len(members[other])
        joined = (sizes[0] * cosines[one] + sizes[1] * cosines[other]) / sum(sizes)
        cosines[one, :] = cosines[:, one] = joined
        cosines[other, :] = cosines[:, other] = -np.inf
        cosines[one, one] = -np.inf
        members[one] += members[other]
        members[other] = []


def _describe(questions: Sequence[Refused]) -> Gap:
    nearest = max(questions, key=lambda one: -2.0 if one.cosine is None else one.cosine)
    return Gap(suggest_heading([one.question for one in questions]), tuple(questions), nearest)


def suggest_heading(questions: Sequence[str]) -> str:
    """Return the words most of the questions share, in the order people use them."""
    counts: Counter[str] = Counter()
    written: dict[str, Counter[str]] = {}
    for question in questions:
        words = [word for word in surface_words(question) if word.casefold() not in STOP_WORDS]
        counts.update(dict.fromkeys((stem(word) for word in words), 1))
        for word in words:
            written.setdefault(stem(word), Counter())[word] += 1
    if not counts:
        return questions[0].strip(" ?")
    common = counts.most_common(_HEADING_WORDS)
    shared = [term for term, count in common if count > 1]
    chosen = shared or [term for term, _ in common]
    order = next(
        (q for q in questions if all(t in map(stem, surface_words(q)) for t in chosen)), ""
    )
    places = [stem(word) for word in surface_words(order)]
    chosen.sort(key=lambda term: places.index(term) if term in places else 0)
    heading = " ".join(written[term].most_common(1)[0][0] for term in chosen)
    return heading[:1].upper() + heading[1:]
