"""Sentence ends in documentation prose.

Good enough to cut at: a cut after an abbreviation costs little, a cut inside a sentence costs a
citation. Blank lines and list items end a sentence whatever stands before them.
"""

from __future__ import annotations

import re

_END = re.compile(
    r"""
    (?<=[.!?…。！？])["')\]»”’*_`]*[ \t]*(?:\n[ \t]*)?(?=\S)   # a full stop, then more text
    | [ \t]*\n[ \t]*\n\s*                                      # a blank line
    | \n(?=[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t])                  # the next list item
    """,
    re.VERBOSE,
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|Mr|Mrs|Ms|Dr|St|Fig|No|approx|resp|incl|al|Inc|Ltd|Jr|Sr)"
    r"|\b[A-Z])\.$"
)
_LOOK_BACK = 12
_WIDE = "。！？"


def sentence_spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the spans of the sentences in ``text[start:end]``, without white space around them."""
    spans: list[tuple[int, int]] = []
    begin = start
    for match in _END.finditer(text, start, end):
        if match.end() < end and _is_end(text, match):
            _append(spans, text, begin, match.end())
            begin = match.end()
    _append(spans, text, begin, end)
    return spans


def _is_end(text: str, match: re.Match[str]) -> bool:
    if match.start() == 0 or text[match.start() - 1] in _WIDE:
        return True
    gap = match[0]
    if gap.count("\n") > 1 or (gap == "\n"):
        return True
    if not gap or not gap[-1].isspace():
        return False  # 3.11, obj.attribute, "...)" without white space after it
    following = text[match.end()]
    if following.islower():
        return False
    before = text[max(0, match.start() - _LOOK_BACK) : match.start()]
    return not _ABBREVIATION.search(before)


def _append(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    while end > start and text[end - 1].isspace():
        end -= 1
    while start < end and text[start].isspace():
        start += 1
    if end > start:
        spans.append((start, end))
