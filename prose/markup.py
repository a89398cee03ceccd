"""Which parts of a Markdown text are code, links or addresses and must be left as they are.

Answers and passages are Markdown or plain text. Neither the splitter nor the marker parser may act
inside a fence, a code span, a link or a bare address, so both ask here first.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

Range: TypeAlias = tuple[int, int]

_FENCE_OPEN = re.compile(r"^[ ]{0,3}(?:(?:[-*+>]|\d{1,3}[.)])[ ]+)?(?P<fence>`{3,}|~{3,})")
_BACKTICKS = re.compile(r"`+")
_LINK = re.compile(
    r"!?\[(?P<label>[^\[\]\n]{0,300})\]"
    r"\([ \t]{0,3}<?[^\s()<>]{0,500}(?:\([^\s()]{0,200}\)[^\s()]{0,300})?>?"
    r"(?:[ \t]{1,3}(?:\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'))?[ \t]{0,3}\)"
)
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>\"'`\[\]]{1,500}", re.IGNORECASE)
_TRAILING = ".,;:!?)*_"
_NUMBERS_ONLY = re.compile(r"[\^\s\d,;–—-]+")


@dataclass(frozen=True, slots=True)
class Ranges:
    """Sorted, disjoint character ranges ``[start, end)`` of one text."""

    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def holds(self, position: int) -> bool:
        """Whether a character position lies inside one of the ranges."""
        at = bisect_right(self.starts, position) - 1
        return at >= 0 and position < self.ends[at]

    def __iter__(self) -> Iterator[Range]:
        """Yield the ranges in order."""
        return iter(zip(self.starts, self.ends, strict=True))


def merge(ranges: list[Range]) -> Ranges:
    """Sort ranges and join those that overlap."""
    merged: list[Range] = []
    for start, end in sorted(ranges):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return Ranges(tuple(start for start, _ in merged), tuple(end for _, end in merged))


def fences(text: str) -> list[Range]:
    """Find fenced code blocks, from the first fence character to the end of the closing line.

    An unclosed fence runs to the end of the text, as Markdown has it.
    """
    found: list[Range] = []
    opened: tuple[int, str] | None = None
    position = 0
    for line in text.splitlines(keepends=True):
        match = _FENCE_OPEN.match(line)
        if match is not None and opened is None:
            opened = (position + match.start("fence"), match["fence"])
        elif opened is not None and _closes(line, opened[1]):
            found.append((opened[0], position + len(line.rstrip())))
            opened = None
        position += len(line)
    if opened is not None:
        found.append((opened[0], len(text)))
    return found


def code(text: str) -> Ranges:
    """Find all code: fences and inline spans."""
    fenced = fences(text)
    return merge(fenced + _code_spans(text, merge(fenced)))


def protected(text: str) -> Ranges:
    """Find everything that is not prose: code, links, images and bare addresses.

    A link whose whole label is numbers (``[2](https://...)``) is a citation written as a link, not
    prose to protect, and is left out.
    """
    coded = code(text)
    found = list(coded)
    found += [
        match.span()
        for match in _LINK.finditer(text)
        if not coded.holds(match.start()) and not _NUMBERS_ONLY.fullmatch(match["label"])
    ]
    found += [
        (match.start(), match.start() + len(match[0].rstrip(_TRAILING)))
        for match in _ADDRESS.finditer(text)
        if not coded.holds(match.start())
    ]
    return merge(found)


def _closes(line: str, fence: str) -> bool:
    stripped = line.strip()
    return len(stripped) >= len(fence) and set(stripped) == {fence[0]}


def _code_spans(text: str, fenced: Ranges) -> list[Range]:
    """Pair runs of backticks of the same length within one paragraph, outside fences."""
    found: list[Range] = []
    for start, end in _paragraphs(text, fenced):
        runs = [match.span() for match in _BACKTICKS.finditer(text, start, end)]
        at = 0
        while at < len(runs):
            opening = runs[at][0] + _is_escaped(text, runs[at][0])
            width = runs[at][1] - opening
            closing = next(
                (i for i in range(at + 1, len(runs)) if runs[i][1] - runs[i][0] == width), None
            )
            if closing is None:
                at += 1
                continue
            found.append((opening, runs[closing][1]))
            at = closing + 1
    return found


def _is_escaped(text: str, position: int) -> bool:
    """Whether an odd number of backslashes stands before a character."""
    before = text[:position]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _paragraphs(text: str, fenced: Ranges) -> Iterator[Range]:
    """Yield the stretches between blank lines and fences."""
    position = 0
    for start, end in [*fenced, (len(text), len(text))]:
        for match in re.finditer(r"(?:[^\n]|\n(?![ \t]*\n))+", text[position:start]):
            yield position + match.start(), position + match.end()
        position = end
