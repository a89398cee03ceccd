"""Recursive splitting: at blank lines, then lines, then sentences, then words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ingestion.composing import Composer, SizedSection
from ingestion.repetition import Span
from ingestion.units import Unit

_SEPARATORS = tuple(
    re.compile(pattern) for pattern in (r"\n[ \t]*\n\s*", r"\n", r"(?<=[.!?])\s+", r"\s+")
)


def split_recursively(composer: Composer, item: SizedSection) -> Iterator[Unit]:
    """Yield the pieces of a section: each the largest that fits between two separators.

    Args:
        composer: Counts tokens.
        item: Its units give the spans that are not repeated lines.
    """
    for run in _runs(item.units):
        if not run[0].is_prose:
            yield run[0]
            continue
        for start, end in _split(composer, run[0].start, run[-1].end, 0):
            yield Unit(start, end, composer.spans.count(start, end), is_prose=True)


def _runs(units: Sequence[Unit]) -> Iterator[list[Unit]]:
    """Yield neighbouring prose together, everything else alone."""
    held: list[Unit] = []
    for unit in units:
        if held and not (unit.is_prose and held[-1].is_prose):
            yield held
            held = []
        held.append(unit)
    if held:
        yield held


def _split(composer: Composer, start: int, end: int, level: int) -> Iterator[Span]:
    if level == len(_SEPARATORS):
        yield start, end
        return
    text = composer.document.text
    at = start
    for separator in [*_SEPARATORS[level].finditer(text, start, end), None]:
        piece_end = separator.start() if separator else end
        if piece_end > at:
            if composer.spans.count(at, piece_end) <= composer.rules.body_tokens:
                yield at, piece_end
            else:
                yield from _split(composer, at, piece_end, level + 1)
        at = separator.end() if separator else end
