"""A passage prepared for comparison, and where in it the words of a sentence stand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import fuzz

from backend.support.tokens import Token, canonical, tokenize
from prose.sentences import split_sentences

_WINDOW_COST = 0.08
_LONG_WORD = 6
_SAME_ROOT_RATIO = 82.0


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage, made once and used for every sentence that cites it.

    Attributes:
        sentences: Character spans of its sentences.
        tokens: The tokens of each sentence, the same length as ``sentences``.
        keys: Canonical keys of each sentence.
    """

    text: str
    sentences: tuple[tuple[int, int], ...]
    tokens: tuple[tuple[Token, ...], ...]
    keys: tuple[frozenset[str], ...]

    def between(self, first: int, last: int) -> list[Token]:
        """Return the tokens of the sentences ``[first, last)``."""
        return [token for group in self.tokens[first:last] for token in group]


@lru_cache(maxsize=512)
def prepare(text: str, ignored: tuple[tuple[int, int], ...] = ()) -> Passage:
    """Split and tokenize a passage, leaving out sentences that touch an ignored range."""
    sentences: list[tuple[int, int]] = []
    tokens: list[tuple[Token, ...]] = []
    for sentence in split_sentences(text):
        if any(start < sentence.end and sentence.start < end for start, end in ignored):
            continue
        found = tokenize(sentence.text)
        if found:
            sentences.append((sentence.start, sentence.end))
            tokens.append(_shifted(found, sentence.start))
    keys = tuple(frozenset(canonical(token) for token in group) for group in tokens)
    return Passage(text, tuple(sentences), tuple(tokens), keys)


class Words:
    """The words of a text, to be asked whether a token is among them."""

    def __init__(self, tokens: Iterable[Token]) -> None:
        self._keys: set[str] = set()
        self._exact: set[str] = set()
        self.add(tokens)

    def add(self, tokens: Iterable[Token]) -> None:
        """Add the words of another text."""
        for token in tokens:
            self._exact.add(token.key)
            self._keys.add(canonical(token))

    def has_exactly(self, key: str) -> bool:
        """Whether this very key is among the words."""
        return key in self._exact

    def match(self, token: Token) -> float:
        """How well a token is present: 1 the word, less for a rephrasing or the same root."""
        if token.key in self._exact:
            return 1.0
        if token.kind in {"number", "count"}:
            return 0.0
        if canonical(token) in self._keys:
            return 0.9
        if token.kind == "identifier":
            return 0.9 if self._has_plural(token.key) else 0.0
        if token.kind == "word" and len(token.key) >= _LONG_WORD:
            return 0.7 if self._has_root(token.key) else 0.0
        return 0.0

    def _has_plural(self, key: str) -> bool:
        return f"{key}s" in self._exact or key.removesuffix("s") in self._exact

    def _has_root(self, key: str) -> bool:
        near = (word for word in self._exact if word[:4] == key[:4] and len(word) >= _LONG_WORD - 1)
        return any(fuzz.ratio(key, word) >= _SAME_ROOT_RATIO for word in near)


def best_window(
    weights: Mapping[str, float], keys: Sequence[AbstractSet[str]], largest: int
) -> tuple[int, int]:
    """Find the run of sentences that covers most of the weight, the shortest and first on a tie.

    Args:
        weights: Canonical key of a sentence's word to its weight.
        keys: Canonical keys of each sentence of the passage.
        largest: Longest run, in sentences.

    Returns:
        The run ``[first, last)``.
    """
    total = sum(weights.values())
    overlaps = [weights.keys() & group for group in keys]
    best, best_value = (0, 1), -1.0
    for first in range(len(keys)):
        if not overlaps[first]:
            continue
        covered: set[str] = set()
        for last in range(first + 1, min(first + largest, len(keys)) + 1):
            covered |= overlaps[last - 1]
            value = sum(weights[key] for key in covered) / total
            value -= _WINDOW_COST * (last - first - 1)
            if value > best_value + 1e-9:
                best, best_value = (first, last), value
    return best


def _shifted(tokens: Iterable[Token], by: int) -> tuple[Token, ...]:
    return tuple(Token(t.key, t.kind, t.start + by, t.end + by) for t in tokens)
