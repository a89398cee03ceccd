"""Words of documentation: stop words, stems, identifiers whole and in parts."""

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
"""Say nothing of the matter, unless they name something, as in: the for statement."""


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
