"""Blocks to units: the smallest pieces a chunk is put together from.

A sentence, a whole code block, a whole table; and where one of these is longer than a chunk, its
pieces, cut at the best place that can be had.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ingestion.document import Block
from ingestion.repetition import Span
from ingestion.sentences import sentence_spans
from ingestion.spans import TokenSpans

MAXIMUM_CHARACTERS = 6000
"""A unit's length whatever its tokens: a tokenizer may take a long unspaced string for one."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A span that is never cut again.

    Attributes:
        tokens: Tokens of the span and of the repeated header, if any.
        is_prose: Whether it may be repeated as overlap.
        header: Header rows that go before it in the embedded text only.
    """

    start: int
    end: int
    tokens: int
    is_prose: bool
    header: str = ""


@dataclass(frozen=True, slots=True)
class UnitCutter:
    """Cuts blocks into units of at most ``limit`` tokens.

    Attributes:
        text: The document.
        spans: Token counts over the document.
        limit: Tokens a unit may have, header rows included.
    """

    text: str
    spans: TokenSpans
    limit: int

    def units(self, block: Block, dropped: Sequence[Span]) -> Iterator[Unit]:
        """Yield the units of a block in order.

        Args:
            block: Not a heading.
            dropped: Spans of repeated lines to leave out of prose.
        """
        if block.kind == "text":
            for start, end in without(block.start, block.end, dropped):
                yield from self._prose(start, end)
        elif self._fits(block.start, block.end):
            yield self._unit(block.start, block.end)
        elif block.kind == "table":
            yield from self._table(block)
        else:
            yield from self._code(block.start, block.end)

    def halves(self, unit: Unit) -> tuple[Unit, Unit] | None:
        """Cut a unit in two near its middle, at white space if there is any; None if it cannot."""
        middle = (unit.start + unit.end) // 2
        if middle == unit.start:
            return None
        space = max(
            self.text.rfind(" ", unit.start + 1, middle),
            self.text.rfind("\n", unit.start + 1, middle),
        )
        cut = space if space > unit.start else middle
        return (
            Unit(unit.start, cut, self.spans.count(unit.start, cut), unit.is_prose, unit.header),
            Unit(cut, unit.end, self.spans.count(cut, unit.end), unit.is_prose, unit.header),
        )

    def pieces(self, unit: Unit, limit: int) -> Iterator[Unit]:
        """Yield a unit, or what its lines make when it has more than ``limit`` tokens."""
        if unit.tokens <= limit:
            yield unit
            return
        for start, end in self._packed(self._lines(unit.start, unit.end, limit), limit):
            yield self._unit(start, end, is_prose=unit.is_prose)

    def _fits(self, start: int, end: int, used: int = 0) -> bool:
        return (
            self.spans.count(start, end) + used <= self.limit and end - start <= MAXIMUM_CHARACTERS
        )

    def _unit(self, start: int, end: int, *, is_prose: bool = False, header: str = "") -> Unit:
        return Unit(start, end, self.spans.count(start, end), is_prose, header)

    def _prose(self, start: int, end: int) -> Iterator[Unit]:
        for first, last in sentence_spans(self.text, start, end):
            for piece_start, piece_end in self._hard(first, last, self.limit):
                yield self._unit(piece_start, piece_end, is_prose=True)

    def _hard(self, start: int, end: int, limit: int) -> Iterator[Span]:
        """Cut a span that has no better place, backwards to white space where there is some."""
        while not (self.spans.count(start, end) <= limit and end - start <= MAXIMUM_CHARACTERS):
            cut = min(self.spans.cut(start, end, limit), start + MAXIMUM_CHARACTERS)
            space = max(self.text.rfind(" ", start + 1, cut), self.text.rfind("\n", start + 1, cut))
            cut = space if space > start else cut
            yield start, cut
            start = cut
            while start < end and self.text[start].isspace():
                start += 1
        if start < end:
            yield start, end

    def _lines(self, start: int, end: int, limit: int) -> Iterator[Span]:
        at = start
        while at < end:
            line_end = self.text.find("\n", at, end)
            line_end = end if line_end == -1 else line_end
            yield from self._hard(at, line_end, limit)
            at = line_end + 1

    def _code(self, start: int, end: int) -> Iterator[Unit]:
        for first, last in self._packed(self._lines(start, end, self.limit), self.limit):
            yield self._unit(first, last)

    def _table(self, block: Block) -> Iterator[Unit]:
        header = self.text[block.start : block.header_end].rstrip("\n")
        cost = self.spans.count(block.start, block.header_end)
        if cost > self.limit // 2:
            header, cost = "", 0
        room = self.limit - cost
        rows = self._lines(block.start, block.end, room)
        for first, last in self._packed(rows, room):
            repeats = header if first >= block.header_end else ""
            tokens = self.spans.count(first, last) + (cost if repeats else 0)
            yield Unit(first, last, tokens, is_prose=False, header=repeats)

    def _packed(self, spans: Iterator[Span], limit: int) -> Iterator[Span]:
        """Join spans while they fit, and give back at the last blank line when there is one."""
        held: list[Span] = []
        for span in spans:
            if held and (
                self.spans.count(held[0][0], span[1]) > limit
                or span[1] - held[0][0] > MAXIMUM_CHARACTERS
            ):
                cut = self._blank_line(held)
                yield held[0][0], held[cut - 1][1]
                held = held[cut:]
            held.append(span)
        if held:
            yield held[0][0], held[-1][1]

    def _blank_line(self, held: Sequence[Span]) -> int:
        """Return how many spans to give out: up to the last blank line in the second half."""
        for cut in range(len(held) - 1, len(held) // 2, -1):
            if "\n\n" in self.text[held[cut - 1][1] : held[cut][0]]:
                return cut
        return len(held)


def without(start: int, end: int, dropped: Sequence[Span]) -> Iterator[Span]:
    """Yield what is left of a span when the dropped ones are taken out."""
    for drop_start, drop_end in dropped:
        if drop_end <= start or drop_start >= end:
            continue
        if drop_start > start:
            yield start, drop_start
        start = max(start, drop_end)
    if start < end:
        yield start, end
