"""Putting the kept parts of a text together again. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

Span: TypeAlias = tuple[int, int]
PASSAGE_GAP = "\n\n"


def join_spans(text: str, spans: Sequence[Span]) -> str:
    """Return the kept parts of a text, in order.

    Neighbours keep the white space that stood between them. Where something was dropped, the wider
    of the two gaps around it stays: a line break between lines, a blank line between paragraphs.

    Args:
        text: The original.
        spans: Characters [start, end) to keep, sorted and disjoint.
    """
    parts: list[str] = []
    last = 0
    for start, end in spans:
        if parts:
            between = text[last:start]
            parts.append(_gap(between) if between.strip() else between)
        parts.append(text[start:end])
        last = end
    return "".join(parts)


def join_passages(texts: Sequence[str]) -> str:
    """Return passages one after the other, empty ones left out."""
    return PASSAGE_GAP.join(text for text in texts if text)


def _gap(between: str) -> str:
    head = between[: len(between) - len(between.lstrip())]
    tail = between[len(between.rstrip()) :]
    breaks = max(head.count("\n"), tail.count("\n"))
    indent = tail.rpartition("\n")[2] if "\n" in tail else ""
    return "\n" * min(breaks, 2) + indent if breaks else " "
