"""Where the text an agent was given stands in the passages it was taken from. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence

from agent.contract import Evidence, Span


def kept_of(whole: str, kept: Sequence[Span] | None, text: str) -> tuple[Span, ...]:
    """Return the stretches of a passage that a beginning of its kept stretches holds.

    Args:
        whole: The passage as stored.
        kept: Stretches that were kept of it, in order; None: all of it.
        text: The kept stretches joined, or cut short anywhere.
    """
    return tuple((start, end) for _, start, end in _layout(whole, kept, text))


def in_stored(passage: Evidence, span: Span) -> Span:
    """Return where characters of the given text stand in the passage as stored.

    What reaches over something cut away is returned from its first character to its last.
    """
    if passage.stored is None:
        return span
    start, end = span
    layout = _layout(passage.stored, passage.kept, passage.text)
    inside = [
        (max(start, at), min(end, at + right - left), left - at)
        for at, left, right in layout
        if at < end and start < at + right - left
    ]
    if not inside:
        return (0, 0)
    first, last = inside[0], inside[-1]
    return first[0] + first[2], last[1] + last[2]


def _layout(whole: str, kept: Sequence[Span] | None, text: str) -> list[tuple[int, int, int]]:
    """Return each stretch with its place in the given text; the last may be cut short."""
    layout: list[tuple[int, int, int]] = []
    at = 0
    for start, end in kept if kept is not None else ((0, len(whole)),):
        piece = whole[start:end]
        found = text.find(piece, at) if piece else -1
        if found >= 0:
            layout.append((found, start, end))
            at = found + len(piece)
            continue
        rest = text[at:].lstrip()
        shared = _shared(rest, piece)
        if shared:
            layout.append((len(text) - len(rest), start, start + shared))
        break
    return layout


def _shared(text: str, piece: str) -> int:
    """Return how many characters two texts begin with in common."""
    length = 0
    for left, right in zip(text, piece, strict=False):
        if left != right:
            break
        length += 1
    return length
