"""Named signals of how a passage bears on a sentence, before they are weighed.

Every signal is computed by comparing tokens: what share of the sentence the passage has, in one
place and in the same order, and on which words the two disagree where they otherwise run alike.
A disagreement counts in proportion to how closely the sentence follows the passage there: in a
free summary another word order or a negation nearby says little, in a near quotation it says all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields

from rapidfuzz import fuzz

from backend.support.alignment import OPPOSITES_OF, align
from backend.support.passage import Passage, Words, best_window
from backend.support.tokens import Token, canonical, tokenize

LARGEST_WINDOW_SENTENCES = 3
_WEIGHTS = {
    "word": 1.0,
    "name": 1.5,
    "number": 2.0,
    "count": 0.7,
    "identifier": 2.0,
    "claim": 0.3,
}
_ONE_SENTENCE = 0.7  # coverage from which one sentence is taken to be what is restated
_LOOSE_ORDER, _CLOSE_ORDER = 0.35, 0.75
_TOPIC_MENTIONS = 3
_CAP = 2


@dataclass(frozen=True, slots=True)
class Features:
    """What the comparison found. Shares are in [0, 1]; counts are capped at 2.

    Attributes:
        passage_coverage: Weighted share of the sentence's content the whole passage has.
        window_coverage: The same for the best run of up to three sentences.
        order: Share of the sentence's tokens found there in the same order.
        fuzzy: Character similarity to the closest stretch of the window.
        numbers_missing: Numbers of the sentence that the passage does not have.
        numbers_elsewhere: Numbers the passage has, but not where the sentence was found.
        numbers_substituted: Numbers standing where the window has another number.
        names_missing: Identifiers and named terms that the passage does not have.
        names_elsewhere: Those it has, but not where the sentence was found, the topic left out.
        names_substituted: Those standing where the window has other ones.
        polarity: Negations that stand on one side only.
        opposites: Words whose opposite stands in the window in their place.
        claims: Disagreements of must, may, only, all and the like.
        words_missing: Share of the ordinary words that the passage does not have.
    """

    passage_coverage: float
    window_coverage: float
    order: float
    fuzzy: float
    numbers_missing: float
    numbers_elsewhere: float
    numbers_substituted: float
    names_missing: float
    names_elsewhere: float
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
    weights = _weights(content)
    first, last = best_window(weights, passage.keys, LARGEST_WINDOW_SENTENCES)
    start, end = passage.sentences[first][0], passage.sentences[last - 1][1]
    window = passage.between(first, last)
    closest = passage.between(*best_window(weights, passage.keys, 1))
    if _coverage(content, Words(closest)) < _ONE_SENTENCE:
        closest = window
    features = _features(tokens, passage, context, window=window, closest=closest)
    text = passage.text[start:end]
    fuzzy = fuzz.partial_ratio(_plain(sentence), _plain(text)) / 100
    return Comparison(_with_fuzzy(features, fuzzy), start, end)


def _features(
    tokens: Sequence[Token],
    passage: Passage,
    context: str,
    *,
    window: Sequence[Token],
    closest: Sequence[Token],
) -> dict[str, float]:
    content = [token for token in tokens if token.kind in _WEIGHTS]
    all_tokens = passage.between(0, len(passage.tokens))
    about = tokenize(context)
    everything, near = Words([*all_tokens, *about]), Words(closest)
    found = align(tokens, closest)
    closeness = min(1.0, max(0.0, (found.order - _LOOSE_ORDER) / (_CLOSE_ORDER - _LOOSE_ORDER)))
    topic = _topic(all_tokens, about)
    elsewhere = [token for token in content if token.key not in topic]
    return {
        "passage_coverage": _coverage(content, everything),
        "window_coverage": _coverage(content, Words(window)),
        "order": found.order,
        "numbers_missing": _missing(content, everything, "number"),
        "numbers_elsewhere": _elsewhere(content, everything, near, "number", "count"),
        "numbers_substituted": found.numbers,
        "names_missing": _missing(content, everything, "name", "identifier"),
        "names_elsewhere": closeness
        * _elsewhere(elsewhere, everything, near, "name", "identifier"),
        "names_substituted": closeness * found.names,
        "polarity": closeness * found.polarity,
        "opposites": closeness * max(found.opposites, _opposites(content, near)),
        "claims": closeness * found.claims,
        "words_missing": _share_missing(content, everything),
    }


def _with_fuzzy(features: dict[str, float], fuzzy: float) -> Features:
    return Features(fuzzy=fuzzy, **features)


def _weights(content: Sequence[Token]) -> dict[str, float]:
    """Weigh the words that choose a place in the passage.

    Words with an opposite do not choose: a sentence that says "before" is not drawn away from the
    one it alters by a "before" elsewhere.
    """
    return {
        canonical(token): 0.01 if token.key in OPPOSITES_OF else _WEIGHTS[token.kind]
        for token in content
    }


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _topic(tokens: Sequence[Token], about: Sequence[Token]) -> set[str]:
    """The names a passage is about: in its headings, or mentioned again and again."""
    mentions = Counter(token.key for token in tokens)
    often = {key for key, count in mentions.items() if count >= _TOPIC_MENTIONS}
    return often | {token.key for token in about}


def _coverage(content: Sequence[Token], words: Words) -> float:
    total = sum(_WEIGHTS[token.kind] for token in content)
    return sum(_WEIGHTS[token.kind] * words.match(token) for token in content) / total


def _missing(content: Sequence[Token], words: Words, *kinds: str) -> float:
    missing = {t.key for t in content if t.kind in kinds and words.match(t) == 0}
    return float(min(_CAP, len(missing)))


def _share_missing(content: Sequence[Token], words: Words) -> float:
    ordinary = [token for token in content if token.kind == "word"]
    missing = sum(words.match(token) == 0 for token in ordinary)
    return missing / len(ordinary) if ordinary else 0.0


def _elsewhere(content: Sequence[Token], everything: Words, near: Words, *kinds: str) -> float:
    some = {token.key: token for token in content if token.kind in kinds}.values()
    return float(min(_CAP, sum(everything.match(t) > 0 and near.match(t) == 0 for t in some)))


def _opposites(content: Sequence[Token], near: Words) -> float:
    own = {token.key for token in content}
    found = 0
    for key in own & OPPOSITES_OF.keys():
        if not near.has_exactly(key):
            found += any(near.has_exactly(o) and o not in own for o in OPPOSITES_OF[key])
    return float(min(_CAP, found))
