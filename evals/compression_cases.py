"""Questions with eight retrieved passages, one of which holds the sentence that answers.

The passages are the ones a lexical search puts first, cut at paragraphs, the answering one among
them whatever its rank, in an order fixed by the question. In a set with reference answers the
answering sentence is the one of the labelled sections that shares most words with the answer; where
none shares enough, the question is left out. In a set with quotes it is the one with the quote.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from context.pieces import Piece, split_pieces
from context.relevance import piece_terms
from evals.citation_corpus import sections_of
from evals.errors import EvalSetError
from evals.quotes import normalise
from evals.sets import Question, Section, Split, load_set, take

_OTHERS = 7
_PASSAGE_CHARACTERS = 1100
_LEAST_OVERLAP = 0.3
_K1 = 1.2
_B = 0.75


@dataclass(frozen=True, slots=True)
class Case:
    """One question.

    Attributes:
        passages: Eight of them.
        gold: The sentence, row or code block that answers, as it stands in one of them.
    """

    question: str
    passages: tuple[str, ...]
    gold: str


def cases_of(folder: Path, split: Split = "all") -> list[Case]:
    """Return the cases of a set.

    Raises:
        EvalSetError: The set has no corpus, or no question with a sentence that answers it.
    """
    eval_set = load_set(folder)
    sections = sections_of(eval_set)
    passages = [
        (section, passage) for section in sections for passage in _cut_at_paragraphs(section.text)
    ]
    ranking = _Ranking([passage for _, passage in passages])
    found = [
        _case(question.question, passages, gold, ranking)
        for question in take((*eval_set.queries, *eval_set.short), split)
        if (gold := _gold(question, passages))
    ]
    if not found:
        raise EvalSetError(f"no question of {folder} has a sentence that answers it")
    return found


def _case(
    question: str,
    passages: Sequence[tuple[Section, str]],
    gold: tuple[int, str],
    ranking: _Ranking,
) -> Case:
    at, sentence = gold
    chosen = [at, *(other for other in ranking.order(question) if other != at)][: _OTHERS + 1]
    random.Random(question).shuffle(chosen)  # noqa: S311 - an order, not a secret
    return Case(question, tuple(passages[each][1] for each in chosen), sentence)


def _gold(question: Question, passages: Sequence[tuple[Section, str]]) -> tuple[int, str] | None:
    if question.quote:
        return _quoted(normalise(question.quote), passages)
    wanted = piece_terms(question.evidence or question.answer)
    best: tuple[float, int, str] = (0.0, -1, "")
    for at, (section, passage) in enumerate(passages):
        if section.id not in question.relevant_ids:
            continue
        for piece in _answering(passage):
            best = max(best, (_overlap(piece_terms(piece.text), wanted), at, piece.text))
    return (best[1], best[2]) if best[0] >= _LEAST_OVERLAP else None


def _quoted(quote: str, passages: Sequence[tuple[Section, str]]) -> tuple[int, str] | None:
    for at, (_, passage) in enumerate(passages):
        if quote in normalise(passage):
            for piece in _answering(passage):
                if quote in normalise(piece.text):
                    return at, piece.text
    return None


def _answering(passage: str) -> Iterator[Piece]:
    return (piece for piece in split_pieces([passage]) if piece.kind != "heading")


def _overlap(left: Counter[str], right: Counter[str]) -> float:
    """Return the F1 of two bags of words, in [0, 1]."""
    both = (left & right).total()
    return 2 * both / (left.total() + right.total()) if both else 0.0


def _cut_at_paragraphs(text: str) -> Iterator[str]:
    held: list[str] = []
    size = 0
    for paragraph in text.split("\n\n"):
        if held and size + len(paragraph) > _PASSAGE_CHARACTERS:
            yield "\n\n".join(held)
            held, size = [], 0
        if paragraph.strip():
            held.append(paragraph)
            size += len(paragraph)
    if held:
        yield "\n\n".join(held)


class _Ranking:
    """BM25 over some passages."""

    def __init__(self, passages: Sequence[str]) -> None:
        self._terms = [piece_terms(passage) for passage in passages]
        self._spread = Counter(term for terms in self._terms for term in terms)
        self._average = sum(terms.total() for terms in self._terms) / max(1, len(passages))

    def order(self, question: str) -> list[int]:
        """Return the places of the passages, best first."""
        asked = {
            term: math.log(1 + (len(self._terms) - count + 0.5) / (count + 0.5))
            for term in piece_terms(question)
            if (count := self._spread[term])
        }
        return sorted(range(len(self._terms)), key=lambda at: (-self._bm25(at, asked), at))

    def _bm25(self, at: int, asked: dict[str, float]) -> float:
        terms = self._terms[at]
        length = 1 - _B + _B * terms.total() / self._average
        return sum(
            weight * terms[term] * (_K1 + 1) / (terms[term] + _K1 * length)
            for term, weight in asked.items()
        )
