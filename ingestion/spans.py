"""Token counts of any span of a text, from one pass of the tokenizer."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence


class TokenSpans:
    """Answers how many of the embedding model's tokens stand in a span.

    Args:
        offsets: Character spans of the tokens of the whole text, in order, without special tokens.
    """

    def __init__(self, offsets: Sequence[tuple[int, int]]) -> None:
        self._starts = [start for start, _ in offsets]

    def count(self, start: int, end: int) -> int:
        """Return the number of tokens that begin inside the span."""
        return bisect_left(self._starts, end) - bisect_left(self._starts, start)

    def cut(self, start: int, end: int, limit: int) -> int:
        """Return the furthest offset in the span with at most ``limit`` tokens before it."""
        first = bisect_left(self._starts, start)
        return min(end, self._starts[first + limit]) if first + limit < len(self._starts) else end
