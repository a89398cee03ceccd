"""Which sentences of an answer only repeat text that was aimed at the model.

A model that obeys a passage says what the passage told it to. Such a sentence rests on no
documentation, whatever marker it carries: it is taken out under every policy.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from backend.citing.injection import find_injections
from backend.support.passage import Words
from backend.support.tokens import tokenize

_REPEATED_RATIO = 85.0
_SHORTEST_CHARACTERS = 12


@dataclass(frozen=True, slots=True)
class Taint:
    """What only injected text says, over all evidence of an answer.

    Attributes:
        texts: The injected stretches, in lower case, white space collapsed.
        clean: All other text, likewise.
        names: Addresses and identifiers that stand in injected text and nowhere else.
    """

    texts: tuple[str, ...]
    clean: str
    names: frozenset[str]


def taint_of(passages: Iterable[str]) -> Taint:
    """Separate injected text from the rest.

    Args:
        passages: The texts of the evidence, with titles and headings as further items.
    """
    injected: list[str] = []
    clean: list[str] = []
    for text in passages:
        position = 0
        for found in find_injections(text):
            clean.append(text[position : found.start])
            injected.append(text[found.start : found.end])
            position = found.end
        clean.append(text[position:])
    if not injected:  # nearly always: nothing is compared with, so nothing is read for it
        return Taint((), "", frozenset())
    words = Words(token for text in clean for token in tokenize(text))
    names = {
        token.key
        for text in injected
        for token in tokenize(text)
        if token.kind == "identifier" and not words.has_exactly(token.key)
    }
    return Taint(
        tuple(_plain(text) for text in injected), _plain(" ".join(clean)), frozenset(names)
    )


def repeats_injection(sentence: str, taint: Taint) -> bool:
    """Whether a sentence says what only injected text says."""
    if not taint.texts:
        return False
    if any(token.key in taint.names for token in tokenize(sentence)):
        return True
    plain = _plain(sentence)
    if len(plain) < _SHORTEST_CHARACTERS:
        return False
    return _closeness(plain, taint.texts) >= _REPEATED_RATIO > _closeness(plain, [taint.clean])


def _closeness(sentence: str, texts: Sequence[str]) -> float:
    return max(fuzz.partial_ratio(sentence, text) if text else 0.0 for text in texts)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
