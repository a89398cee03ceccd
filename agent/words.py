"""Words as the extractive agent compares them: stemmed, identifiers whole and in parts."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Protocol

from py_rust_stemmers import (  # compiled, without stubs
    SnowballStemmer,  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]
)

_WORD = re.compile(r"\w+(?:['’]\w+)*")
_CAMEL_PIECE = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_CAMEL_JOINT = re.compile(r"[a-z][A-Z]")
_OPERATOR = re.compile(r"(?<![^\s\"'`(])([+\-*/%@&|^~<>=:!]{1,3})(?![^\s\"'`),.?])")
_PLAIN_SYMBOLS = frozenset({"-", ":", "--", "---", "!", "|", "/", "*"})
# A word used as a name of the language: "for", `with`, the for statement, the keyword else.
_NAMED = re.compile(
    r"[\"`“](\w+)[\"`”]|\b([a-z]+)[ -](?:statement|clause|keyword|loop|operator|block|suite)s?\b"
    r"|\b(?:keyword|statement|operator) ([a-z]+)\b"
)

_NEVER_NAMES = frozenset(
    ["a", "an", "any", "each", "its", "no", "other", "same", "that", "the", "this", "which", "your"]
)

_STOP = """
    a about above after all also an and any are as at be been being below between both but by can
    cannot could did do does doing done each either else for from get gets give given had has have
    having here how i if in into is it its just like made make me more most my neither no nor not of
    off on once one only or other our out over own per same shall should so some such than that the
    their them then there these they this those through to too under until up us was we were what
    when where whether which while who whom whose why will with within without would you your yours
    tell explain describe please show know want need let there's what's who's it's doesn't don't
    isn't aren't can't i'm
"""
STOP_WORDS = frozenset(_STOP.split())
"""Counted only where they name something, as in: the for statement."""

_FRAME = """
    use using used usage mean meaning means work works difference differ different example
    examples happen happens purpose way ways kind kinds type types thing things define defined
    definition call called name named say create created possible allow allowed support supported
    many much long often set main good best advantage reason steps step available supposed python
    method function object value values documentation docs page section
"""
FRAME_WORDS = frozenset(_FRAME.split())
"""Words that frame many questions: counted, at a fraction of the weight."""


class _Stemmer(Protocol):
    def stem_word(self, word: str) -> str: ...


@lru_cache(maxsize=1)
def _stemmer() -> _Stemmer:
    return SnowballStemmer("english")  # pyright: ignore[reportUnknownVariableType]


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return the stem of one word, case folded."""
    folded = word.casefold().replace("’", "'").removesuffix("'s")
    return folded if "_" in folded else _stemmer().stem_word(folded)


@lru_cache(maxsize=65_536)
def parts(word: str) -> tuple[str, ...]:
    """Return the stems of an identifier's parts; empty when it has only one."""
    if "_" not in word and not _CAMEL_JOINT.search(word):
        return ()
    pieces: list[str] = _CAMEL_PIECE.findall(word)
    return tuple(stem(piece) for piece in pieces)


def surface_words(text: str) -> list[str]:
    """Return the words of a text as written, stop words included."""
    return _WORD.findall(text)


def _named(text: str) -> set[str]:
    words = (next(filter(None, match.groups())) for match in _NAMED.finditer(text))
    return {f"`{word}`" for word in words if word in STOP_WORDS - _NEVER_NAMES}


def terms(text: str) -> frozenset[str]:
    """Return all stems of a text: words, identifiers whole and in parts, operators."""
    found: set[str] = set(_OPERATOR.findall(text)) | _named(text)
    for word in surface_words(text):
        if word.casefold() not in STOP_WORDS:
            found.add(stem(word))
        found.update(parts(word))
    return frozenset(found)


def question_terms(question: str) -> tuple[str, ...]:
    """Return the distinct stems a question asks about, in order.

    An identifier counts whole; operators count when they are set apart by blanks or quotes. A
    question of nothing but stop words ("what is it?") gives none.
    """
    wanted: dict[str, None] = dict.fromkeys(sorted(_named(question)))
    for word in surface_words(question):
        if word.casefold() not in STOP_WORDS and (len(word) > 1 or word.isalpha()):
            wanted.setdefault(stem(word))
    for symbol in _OPERATOR.findall(question):
        if symbol not in _PLAIN_SYMBOLS or f"`{symbol}`" in question:
            wanted.setdefault(symbol)
    return tuple(wanted)


def is_frame(term: str) -> bool:
    """Whether a stem only frames the question."""
    return term in _FRAME_STEMS


_FRAME_STEMS = frozenset(stem(word) for word in FRAME_WORDS)
