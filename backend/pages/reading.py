"""A passage as it is read: which of its words carry the answer, which line ends are meant. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from backend.citing.markers import find_markers
from backend.contract import AskResponse, RetrievedChunk
from backend.support.check import support
from prose.blocks import split_blocks

_JOINED = frozenset({"paragraph", "item"})
# Two blanks before it say that a line end is meant.
_LINE_END = re.compile(r"(?<!  )\n[ \t]*")
# What closes emphasis, a quotation or a sentence belongs to the words before it.
_CLOSERS = "*_`\"')]”’.!?:;"


@dataclass(frozen=True, slots=True)
class Mark:
    """Characters ``[start, end)`` of a passage that carry something of the answer.

    Attributes:
        markers: Places, from 0, of the answer's markers that rest on these words.
    """

    start: int
    end: int
    markers: tuple[int, ...] = ()


def flow(text: str) -> list[str]:
    """Return what to show of each character of a passage, the lines of its paragraphs joined.

    Plain text is often set to a column, which reads badly on a narrow screen. A line end within a
    paragraph becomes one blank and the indent after it nothing, so that every place in the text
    stays what it was; code, tables and signatures stay as they are.
    """
    shown = list(text)
    for block in split_blocks(text):
        if block.kind not in _JOINED:
            continue
        for found in _LINE_END.finditer(text, block.start, block.end):
            shown[found.start()] = " "
            for place in range(found.start() + 1, found.end()):
                shown[place] = ""
    return shown


def marks_of(response: AskResponse, chunk: RetrievedChunk, number: int) -> tuple[Mark, ...]:
    """Return where a cited passage carries the sentences that cite it, by place in the passage.

    Args:
        response: The answer.
        chunk: The cited passage.
        number: Of the citation.
    """
    context = f"{chunk.title}\n{chunk.section_heading}"
    marks: list[Mark] = []
    for sentence in response.sentences:
        if number not in sentence.numbers:
            continue
        span = support(sentence.text, chunk.text, context).span
        if span is not None:
            places = markers_in(response.answer, number, sentence.span.start, sentence.span.end)
            marks.append(Mark(span[0], to_the_end(chunk.text, span[1]), places))
    if not marks:
        marks = [
            Mark(cited.span.start, to_the_end(chunk.text, cited.span.end))
            for cited in response.citations
            if cited.number == number and cited.span is not None
        ]
    return tuple(sorted(marks, key=lambda mark: mark.start))


def markers_in(answer: str, number: int, start: int, end: int) -> tuple[int, ...]:
    """Return the places, from 0 and among all markers, of a number's markers in [start, end).

    A sentence without a marker of its own rests on the next one below it.
    """
    numbers = [(m.start, n) for m in find_markers(answer) for n in m.numbers]
    own = [k for k, (at, n) in enumerate(numbers) if n == number and start <= at < end]
    below = [k for k, (at, n) in enumerate(numbers) if n == number and at >= end]
    return tuple(own or below[:1])


def to_the_end(text: str, end: int) -> int:
    """Return the end of a span with what closes its last word."""
    while end < len(text) and text[end] in _CLOSERS:
        end += 1
    return end
