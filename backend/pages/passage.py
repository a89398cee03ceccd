"""The text of a passage as the inspector shows it: what supports the answer, what was cut away."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from markupsafe import Markup, escape

from backend.pages.reading import Mark, flow
from knowledge.packing import Stretch


def show_passage(
    text: str, marks: Sequence[Mark] = (), *, given: Sequence[Stretch] | None = None
) -> Markup:
    """Return a passage as escaped text, the lines of its paragraphs joined.

    Args:
        text: The passage as stored.
        marks: Characters that support the answer, in any order; they may overlap, and one outside
            the text marks nothing.
        given: Characters that were put before the agent, the rest is shown as cut away; None: all.
    """
    marked = [mark for mark in marks if 0 <= mark.start < mark.end <= len(text)]
    kept = [(0, len(text))] if given is None else [(each.start, each.end) for each in given]
    edges = {0, len(text), *(edge for span in kept for edge in span)}
    edges.update(edge for mark in marked for edge in (mark.start, mark.end))
    shown = flow(text)
    pieces = [
        _piece(
            "".join(shown[start:end]),
            [mark for mark in marked if mark.start <= start and end <= mark.end],
            is_cut=not any(left <= start and end <= right for left, right in kept),
        )
        for start, end in pairwise(sorted(edges))
        if end <= len(text)
    ]
    return Markup("").join(pieces)


def _piece(words: str, marks: Sequence[Mark], *, is_cut: bool) -> Markup:
    if is_cut and words.strip():
        return Markup('<del class="cut">{}</del>').format(words)
    if not marks:
        return escape(words)
    markers = " ".join(str(place) for place in sorted({p for m in marks for p in m.markers}))
    return Markup('<mark data-markers="{}">{}</mark>').format(markers, words)
