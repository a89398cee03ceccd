"""Which stretches must survive compression because they hold what the caller forces."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from context.pieces import Piece, occurrences
from context.spans import Span

_DIGIT = re.compile(r"\d")
_MARKER = re.compile(r"\[\^?\d[\d\s,;–—-]{0,40}\]|【\d[^】\n]{0,40}】")
_CLAUSE_END = re.compile(r"[,;:()—–]\s*|\s-\s")


@dataclass(frozen=True, slots=True)
class Rules:
    """What must survive, and where a sentence may be cut.

    Attributes:
        force: Words or phrases that must survive where they stand, letter for letter.
        keeps_digits: Whether every piece with a digit must survive.
        drops_repeats: Whether one occurrence of each forced word is enough.
        stop_tokens: Where an over-long sentence is cut, searched backwards.
    """

    force: tuple[str, ...] = ()
    keeps_digits: bool = False
    drops_repeats: bool = True
    stop_tokens: tuple[str, ...] = field(default=(".", "\n"))


def forced_pieces(
    pieces: Sequence[Piece], weights: Sequence[float], rules: Rules
) -> dict[int, tuple[str, ...]]:
    """Return the pieces that must survive, each with the forced words it is kept for.

    With repeats dropped, each forced word is kept in the heaviest piece that has it; a piece that
    is kept already serves further words.
    """
    chosen: dict[int, tuple[str, ...]] = {}
    if rules.keeps_digits:
        chosen |= {at: () for at, piece in enumerate(pieces) if _DIGIT.search(piece.text)}
    for word in dict.fromkeys(word for word in rules.force if word):
        holders = [at for at, piece in enumerate(pieces) if word in piece.text]
        if rules.drops_repeats and holders:
            holders = [max(holders, key=lambda at: (at in chosen, weights[at], -at))]
        for at in holders:
            chosen[at] = (*chosen.get(at, ()), word)
    return chosen


def clause_spans(piece: Piece, words: Sequence[str]) -> list[Span]:
    """Return the clauses of a sentence that hold these words; other pieces stay whole."""
    return _spans(piece, words, _clause)


def word_spans(piece: Piece, words: Sequence[str]) -> list[Span]:
    """Return only the words themselves out of a sentence; other pieces stay whole."""
    return _spans(piece, words, lambda _, start, end: (start, end))


def line_spans(piece: Piece, words: Sequence[str]) -> list[Span]:
    """Return the words out of a sentence, and the whole lines that hold them out of code."""
    if piece.kind == "sentence" or not words:
        return word_spans(piece, words)
    return _merged(
        [
            _line(piece, start, start + len(word))
            for word in words
            for start in occurrences(piece.text, word)
        ]
    )


def bare_spans(piece: Piece, words: Sequence[str]) -> list[Span]:
    """Return only the words themselves, also out of code, and the markers of a sentence.

    For a word whose line alone is larger than all that may stay: better it than a refusal.
    """
    if piece.kind == "sentence" or not words:
        return word_spans(piece, words)
    return _merged(
        [
            (piece.start + start, piece.start + start + len(word))
            for word in words
            for start in occurrences(piece.text, word)
        ]
    )


def markers_after(piece: Piece, end: int) -> list[Span]:
    """Return the citation markers of a piece from a place within it on, in passage characters."""
    return [
        (piece.start + found.start(), piece.start + found.end())
        for found in _MARKER.finditer(piece.text, end)
    ]


def _spans(
    piece: Piece, words: Sequence[str], widen: Callable[[str, int, int], Span]
) -> list[Span]:
    if piece.kind != "sentence" or not words:
        return [(piece.start, piece.end)]
    found = markers_after(piece, 0)  # who said it stays with what is said
    for word in words:
        for start in occurrences(piece.text, word):
            left, right = widen(piece.text, start, start + len(word))
            found.append((piece.start + left, piece.start + right))
    return _merged(found)


def _merged(found: Sequence[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(found):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _line(piece: Piece, start: int, end: int) -> Span:
    left = piece.text.rfind("\n", 0, start) + 1
    right = piece.text.find("\n", end)
    return piece.start + left, piece.start + (right if right >= 0 else len(piece.text))


def _clause(text: str, start: int, end: int) -> Span:
    left = max((found.end() for found in _CLAUSE_END.finditer(text, 0, start)), default=0)
    after = _CLAUSE_END.search(text, end)
    return left, len(text[: after.start()].rstrip()) if after else len(text)
