"""Line numbers to character offsets."""

from __future__ import annotations


class LineIndex:
    """Where each line of a text begins.

    Args:
        text: The text, with Unix line ends.
        base: Offset added to every answer, for a text that is a slice of a longer one.
    """

    def __init__(self, text: str, base: int = 0) -> None:
        starts = [0]
        at = text.find("\n")
        while at != -1:
            starts.append(at + 1)
            at = text.find("\n", at + 1)
        self._starts = starts
        self._length = len(text)
        self._base = base

    def start(self, line: int) -> int:
        """Return the offset of the first character of a line, or of the end past the last."""
        inside = self._starts[line] if line < len(self._starts) else self._length
        return self._base + inside


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span without surrounding blank lines, the first line's indentation kept."""
    while end > start and text[end - 1].isspace():
        end -= 1
    head = start
    while head < end and text[head].isspace():
        head += 1
    line_start = text.rfind("\n", start, head) + 1
    return max(start, line_start), end
