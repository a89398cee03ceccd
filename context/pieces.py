"""The smallest parts of a text that compression keeps or drops whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from prose.blocks import Block, split_blocks
from prose.sentences import split_sentences

PieceKind = Literal["sentence", "code", "row", "heading"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch ``text[start:end]``; only a sentence may be cut inside, and only as a last resort.

    Attributes:
        passage: Number of the passage it stands in, from 0.
        start: First character within the passage.
        end: One past the last.
        paragraph: Number of the block it stands in, from 0, counted through all passages.
        place: Place within the block, from 0.
    """

    passage: int
    start: int
    end: int
    text: str
    kind: PieceKind
    paragraph: int
    place: int


def split_pieces(texts: Sequence[str], whole: Sequence[str] = ()) -> list[Piece]:
    """Split passages into pieces, in order; nothing a reader sees is outside of all of them.

    Args:
        texts: The passages.
        whole: Phrases that no cut may fall into: pieces that share one become one piece. What is
            hidden from readers is part of a piece only when such a phrase stands in it.
    """
    blocks = [
        (passage, text, block) for passage, text in enumerate(texts) for block in split_blocks(text)
    ]
    pieces = [
        Piece(passage, start, end, text[start:end], kind, paragraph, place)
        for paragraph, (passage, text, block) in enumerate(blocks)
        for place, (start, end, kind) in enumerate(_parts(block))
    ]
    for phrase in dict.fromkeys(phrase for phrase in whole if phrase):
        for passage, text in enumerate(texts):
            for start in occurrences(text, phrase):
                pieces = _joined(pieces, passage, text, start, start + len(phrase))
    return pieces


def occurrences(text: str, phrase: str) -> Iterator[int]:
    """Yield where a phrase that is not empty starts, overlaps left out."""
    start = text.find(phrase)
    while start >= 0:
        yield start
        start = text.find(phrase, start + len(phrase))


def _joined(pieces: list[Piece], passage: int, text: str, start: int, end: int) -> list[Piece]:
    """Make one piece of everything that a stretch of a passage touches."""
    touched = [
        at
        for at, piece in enumerate(pieces)
        if piece.passage == passage and piece.start < end and start < piece.end
    ]
    if not touched:
        at = sum((piece.passage, piece.start) < (passage, start) for piece in pieces)
        beside = pieces[min(at, len(pieces) - 1)].paragraph if pieces else 0
        hidden = Piece(passage, start, end, text[start:end], "code", beside, 0)
        return [*pieces[:at], hidden, *pieces[at:]]
    first, last = pieces[touched[0]], pieces[touched[-1]]
    if first is last and first.start <= start and end <= first.end:
        return pieces
    left, right = min(first.start, start), max(last.end, end)
    kinds = {piece.kind for piece in pieces[touched[0] : touched[-1] + 1]}
    kind: PieceKind = "sentence" if kinds == {"sentence"} else "code"
    one = Piece(passage, left, right, text[left:right], kind, first.paragraph, first.place)
    return [*pieces[: touched[0]], one, *pieces[touched[-1] + 1 :]]


def _parts(block: Block) -> Iterator[tuple[int, int, PieceKind]]:
    if block.kind == "code":
        yield block.start, block.end, "code"
    elif block.kind == "table":
        yield from _lines(block)
    elif block.kind in {"heading", "signature"}:
        yield block.start, block.end, "heading"
    else:
        for sentence in split_sentences(block.text):
            yield block.start + sentence.start, block.start + sentence.end, "sentence"


def _lines(block: Block) -> Iterator[tuple[int, int, PieceKind]]:
    offset = block.start
    for line in block.text.splitlines(keepends=True):
        if line.strip():
            yield offset, offset + len(line.rstrip()), "row"
        offset += len(line)
