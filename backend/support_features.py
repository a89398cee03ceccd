"""Named signals of how a passage bears on a sentence, before they are weighed.

Every signal is computed by comparing tokens: what share of the sentence the passage has, in one
place and in the same order, and on which words the two disagree where they otherwise run alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache

from rapidfuzz import fuzz
from rapidfuzz.distance import LCSseq, Levenshtein

from backend.sentences import split_sentences
from backend.support_tokens import REPHRASED, Token, stem, tokenize
from backend.support_words import OPPOSITES

LARGEST_WINDOW_SENTENCES = 3
_WEIGHTS = {"word": 1.0, "name": 1.5, "number": 2.0, "identifier": 2.0, "claim": 0.3}
_WINDOW_COST = 0.08
_LONG_WORD = 6
_SAME_ROOT_RATIO = 82.0

_OPPOSITE_OF: dict[str, set[str]] = {}
for _left, _right in OPPOSITES:
    _OPPOSITE_OF.setdefault(stem(_left), set()).add(stem(_right))
    _OPPOSITE_OF.setdefault(stem(_right), set()).add(stem(_left))


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage prepared for comparison; made once and used for every sentence that cites it.

    Attributes:
        sentences: Character spans of its sentences.
        tokens: The tokens of each sentence, the same length as ``sentences``.
        keys: Canonical keys of each sentence.
    """

    text: str
    sentences: tuple[tuple[int, int], ...]
    tokens: tuple[tuple[Token, ...], ...]
    keys: tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True)
class Features:
    """What the comparison found. Shares are in [0, 1]; counts are capped at 2.

    Attributes:
        passage_coverage: Weighted share of the sentence's content the whole passage has.
        window_coverage: The same for the best run of up to three sentences.
        order: Share of the sentence's tokens found there in the same order.
        fuzzy: Character similarity to the closest stretch of the window.
        numbers_missing: Numbers of the sentence that the passage does not have.
        numbers_elsewhere: Numbers the passage has, but not in the window.
        numbers_substituted: Numbers standing where the window has another number.
        names_missing: Identifiers and named terms that the passage does not have.
        names_substituted: Those standing where the window has other ones.
        polarity: Negations that stand on one side only.
        opposites: Words whose opposite stands in the window in their place.
        claims: Disagreements of must, may, only, all and the like.
        words_missing: Ordinary words that the passage does not have.
    """

    passage_coverage: float
    window_coverage: float
    order: float
    fuzzy: float
    numbers_missing: float
    numbers_elsewhere: float
    numbers_substituted: float
    names_missing: float
    names_substituted: float
    polarity: float
    opposites: float
    claims: float
    words_missing: float


FEATURE_NAMES = tuple(field.name for field in fields(Features))


@dataclass(frozen=True, slots=True)
class Comparison:
    """The signals, and where in the passage the sentence was found.

    Attributes:
        start: First character of the best stretch.
        end: One past its last character.
    """

    features: Features
    start: int
    end: int


def canonical(token: Token) -> str:
    """The key under which rephrasings of one word are equal."""
    return REPHRASED.get(token.key, token.key)


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


def compare(sentence: str, passage: Passage, context: str = "") -> Comparison | None:
    """Compare a sentence with a passage.

    Args:
        sentence: Without citation markers.
        passage: The prepared passage.
        context: Title and headings of the passage: words the passage need not repeat.

    Returns:
        The comparison; None when either side has nothing to compare.
    """
    tokens = tokenize(sentence)
    content = [token for token in tokens if token.kind in _WEIGHTS]
    if not content or not passage.sentences:
        return None
    first, last = _best_window(content, passage.keys)
    window = [token for group in passage.tokens[first:last] for token in group]
    everything = _Words(token for group in passage.tokens for token in group)
    everything.add(tokenize(context))
    local = _Words(window)
    differences = _align(tokens, window)
    start, end = passage.sentences[first][0], passage.sentences[last - 1][1]
    closest = fuzz.partial_ratio(_plain(sentence), _plain(passage.text[start:end])) / 100
    features = Features(
        passage_coverage=_coverage(content, everything),
        window_coverage=_coverage(content, local),
        order=differences.order,
        fuzzy=closest,
        numbers_missing=_missing(content, everything, "number"),
        numbers_elsewhere=_elsewhere(content, everything, local),
        numbers_substituted=differences.numbers,
        names_missing=_missing(content, everything, "name", "identifier"),
        names_substituted=differences.names,
        polarity=differences.polarity,
        opposites=_opposites(content, local),
        claims=differences.claims,
        words_missing=_missing(content, everything, "word"),
    )
    return Comparison(features, start, end)


class _Words:
    """The words of a text, to be asked whether a token is among them."""

    def __init__(self, tokens: Iterable[Token]) -> None:
        self._keys: set[str] = set()
        self._exact: set[str] = set()
        self.add(tokens)

    def add(self, tokens: Iterable[Token]) -> None:
        for token in tokens:
            self._exact.add(token.key)
            self._keys.add(canonical(token))

    def has_exactly(self, key: str) -> bool:
        return key in self._exact

    def match(self, token: Token) -> float:
        """How well a token is present: 1 the word, less for a rephrasing or the same root."""
        if token.key in self._exact:
            return 1.0
        if token.kind == "number":
            return 0.0
        if canonical(token) in self._keys:
            return 0.9
        if token.kind == "word" and len(token.key) >= _LONG_WORD:
            return 0.7 if self._has_root(token.key) else 0.0
        return 0.0

    def _has_root(self, key: str) -> bool:
        near = (word for word in self._exact if word[:4] == key[:4] and len(word) >= _LONG_WORD - 1)
        return any(fuzz.ratio(key, word) >= _SAME_ROOT_RATIO for word in near)


@dataclass(frozen=True, slots=True)
class _Differences:
    order: float
    numbers: float
    names: float
    polarity: float
    claims: float


def _shifted(tokens: Iterable[Token], by: int) -> tuple[Token, ...]:
    return tuple(Token(t.key, t.kind, t.start + by, t.end + by) for t in tokens)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _best_window(content: Sequence[Token], keys: Sequence[frozenset[str]]) -> tuple[int, int]:
    """Find the run of sentences that covers most of the content, the shortest on a tie.

    Words with an opposite do not choose: a sentence that says "before" is not drawn away from the
    one it alters by a "before" elsewhere.
    """
    weights = {
        canonical(token): 0.01 if token.key in _OPPOSITE_OF else _WEIGHTS[token.kind]
        for token in content
    }
    total = sum(weights.values())
    overlaps = [weights.keys() & group for group in keys]
    best, best_value = (0, 1), -1.0
    for first in range(len(keys)):
        if not overlaps[first]:
            continue
        covered: set[str] = set()
        for last in range(first + 1, min(first + LARGEST_WINDOW_SENTENCES, len(keys)) + 1):
            covered |= overlaps[last - 1]
            value = sum(weights[key] for key in covered) / total
            value -= _WINDOW_COST * (last - first - 1)
            if value > best_value + 1e-9:
                best, best_value = (first, last), value
    return best


def _coverage(content: Sequence[Token], words: _Words) -> float:
    total = sum(_WEIGHTS[token.kind] for token in content)
    return sum(_WEIGHTS[token.kind] * words.match(token) for token in content) / total


def _missing(content: Sequence[Token], words: _Words, *kinds: str) -> float:
    missing = {t.key for t in content if t.kind in kinds and words.match(t) == 0}
    return float(min(2, len(missing)))


def _elsewhere(content: Sequence[Token], everything: _Words, local: _Words) -> float:
    numbers = {token.key for token in content if token.kind == "number"}
    found = [n for n in numbers if everything.has_exactly(n) and not local.has_exactly(n)]
    return float(min(2, len(found)))


def _opposites(content: Sequence[Token], local: _Words) -> float:
    own = {token.key for token in content}
    found = 0
    for key in own & _OPPOSITE_OF.keys():
        if local.has_exactly(key):
            continue
        found += any(local.has_exactly(o) and o not in own for o in _OPPOSITE_OF[key])
    return float(min(2, found))


def _align(tokens: Sequence[Token], window: Sequence[Token]) -> _Differences:
    """Align the sentence with the stretch of the window it runs along, and read the differences."""
    left = [canonical(token) for token in tokens]
    right = [canonical(token) for token in window]
    blocks = [op for op in LCSseq.opcodes(left, right) if op.tag == "equal"]
    if not blocks:
        return _Differences(0.0, 0.0, 0.0, 0.0, 0.0)
    order = sum(block.src_end - block.src_start for block in blocks) / len(left)
    first = max(0, blocks[0].dest_start - blocks[0].src_start)
    last = blocks[-1].dest_end + len(left) - blocks[-1].src_end
    region = window[first:last]
    numbers, names, claims = 0, 0, 0
    for ours, theirs in _replaced(tokens, region):
        kinds = {token.kind for token in ours}, {token.kind for token in theirs}
        numbers += "number" in kinds[0] and "number" in kinds[1]
        named = [kind & {"name", "identifier"} for kind in kinds]
        names += bool(named[0] and named[1])
        claims += "claim" in kinds[0] and "claim" in kinds[1]
    return _Differences(
        order, min(2, numbers), min(2, names), _polarity(tokens, region), min(2, claims)
    )


def _replaced(
    tokens: Sequence[Token], region: Sequence[Token]
) -> Iterable[tuple[list[Token], list[Token]]]:
    """Yield runs of the sentence that stand where the region has something else."""
    left = [canonical(token) for token in tokens]
    right = [canonical(token) for token in region]
    for op in Levenshtein.opcodes(left, right):
        if op.tag == "replace":
            ours = [t for t in tokens[op.src_start : op.src_end] if canonical(t) not in right]
            ours = ours or list(tokens[op.src_start : op.src_end])
            theirs = [t for t in region[op.dest_start : op.dest_end] if canonical(t) not in left]
            if ours and theirs:
                yield ours, theirs


def _polarity(tokens: Sequence[Token], region: Sequence[Token]) -> float:
    """Count negations on one side only, within the stretch both run along."""
    ours = Counter(token.key for token in tokens if token.kind == "negation")
    theirs = Counter(token.key for token in region if token.kind == "negation")
    return float(min(2, abs(ours.total() - theirs.total())))
