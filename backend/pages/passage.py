"""The text of a passage as the inspector shows it: what supports the answer, what was cut away."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from markupsafe import Markup, escape

from backend.contract import Span
from knowledge.packing import Stretch


def show_passage(
    text: str, *, mark: Span | None = None, given: Sequence[Stretch] | None = None
) -> Markup:
    """Return a passage as escaped text.

    Args:
        text: The passage as stored.
        mark: Characters that support the answer; one outside the text marks nothing.
        given: Characters that were put before the agent, the rest is shown as cut away; None: all.
    """
    marked = (mark.start, mark.end) if mark and 0 <= mark.start < mark.end <= len(text) else (0, 0)
    kept = [(0, len(text))] if given is None else [(each.start, each.end) for each in given]
    edges = sorted({0, len(text), *marked, *(edge for span in kept for edge in span)})
    pieces = [
        _piece(
            text[start:end],
            is_cut=not any(left <= start and end <= right for left, right in kept),
            is_marked=marked[0] <= start and end <= marked[1],
        )
        for start, end in pairwise(edges)
        if end <= len(text)
    ]
    return Markup("").join(pieces)


def _piece(text: str, *, is_cut: bool, is_marked: bool) -> Markup:
    if is_cut and text.strip():
        return Markup('<del class="cut">{}</del>').format(text)
    if is_marked:
        return Markup("<mark>{}</mark>").format(text)
    return Markup(escape(text))  # noqa: S704 - escaped on the spot
