"""Token counts of any span of a text, from one pass of the tokenizer."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

_RULER = re.compile(r"([^\w\s])\1{3,}")
_KEPT_CHARACTERS = 3


def shorten_rulers(text: str) -> str:
    """Return the text with runs of one mark cut to three.

    The dashes under a wide table's header, or a fence of thirty backticks, say no more than three
    of them, and would fill half of what an embedding model reads.
    """
    return _RULER.sub(r"\1\1\1", text)


class TokenSpans:
    """Answers how many of the embedding model's tokens a span has once rulers are shortened.

    Args:
        text: The whole text.
        offsets: Character spans of its tokens, in order, without special tokens.
    """

    def __init__(self, text: str, offsets: Sequence[tuple[int, int]]) -> None:
        self._starts = list(_outside_rulers(text, [start for start, _ in offsets]))

    def count(self, start: int, end: int) -> int:
        """Return the number of tokens that begin inside the span."""
        return bisect_left(self._starts, end) - bisect_left(self._starts, start)

    def cut(self, start: int, end: int, limit: int) -> int:
        """Return the furthest offset in the span with at most ``limit`` tokens before it."""
        first = bisect_left(self._starts, start)
        return min(end, self._starts[first + limit]) if first + limit < len(self._starts) else end


def _outside_rulers(text: str, starts: Sequence[int]) -> Iterator[int]:
    at = 0
    for ruler in _RULER.finditer(text):
        first = bisect_left(starts, ruler.start() + _KEPT_CHARACTERS, at)
        yield from starts[at:first]
        at = bisect_left(starts, ruler.end(), first)
    yield from starts[at:]
