"""Units to chunks: as many as fit, with overlap at the cuts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ingestion.rules import ChunkRules
from ingestion.units import Unit

_WIDEST_GAP_CHARACTERS = 800  # of repeated lines shown, though not embedded, inside one passage


def pack(
    units: Sequence[Unit], rules: ChunkRules, *, breaks: Collection[int] = ()
) -> Iterator[list[Unit]]:
    """Yield the units of each chunk in order.

    Args:
        units: In order.
        rules: Sizes; sentences of the chunk before are repeated up to the overlap.
        breaks: Positions of units that begin a chunk whatever fits, without overlap.
    """
    current: list[Unit] = []
    for at, unit in enumerate(units):
        is_break = at in breaks or (
            bool(current) and unit.start - current[-1].end > _WIDEST_GAP_CHARACTERS
        )
        if current and is_break:
            yield current
            current = []
        elif current and not fits([*current, unit], rules):
            yield current
            current = _overlap(current, unit, rules)
        current.append(unit)
    if current:
        yield current


def fits(units: Sequence[Unit], rules: ChunkRules) -> bool:
    """Whether units together are within the body of a chunk."""
    return sum(unit.tokens for unit in units) <= rules.body_tokens


def _overlap(before: Sequence[Unit], unit: Unit, rules: ChunkRules) -> list[Unit]:
    kept: list[Unit] = []
    tokens = 0
    for candidate in reversed(before[1:]):
        tokens += candidate.tokens
        if not candidate.is_prose or tokens > rules.overlap_tokens:
            break
        kept.insert(0, candidate)
    return kept if fits([*kept, unit], rules) else []
