"""Parts of a passage: a few sentences each, with a vector of their own beside the passage's.

A passage of a hundred words is the right size to read and to rank by words, but its one vector is
an average: a sentence that answers a question exactly is drowned by its neighbours. Each passage is
therefore also embedded in parts, and search counts the best of them (``part_cosine``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ingestion.units import Unit, UnitCutter


@dataclass(frozen=True, slots=True)
class PartRules:
    """Sizes, in the embedding model's own tokens.

    Attributes:
        target_tokens: Body of a part, at most; what cannot be cut shorter is longer.
        overlap_tokens: Sentences of the part before that are repeated, at most.
    """

    target_tokens: int
    overlap_tokens: int

    @property
    def name(self) -> str:
        """Name and parameters, part of a build's stamp."""
        return f"windows-1({self.target_tokens}/{self.overlap_tokens})"


def windows(units: Sequence[Unit], cutter: UnitCutter, rules: PartRules) -> list[list[Unit]]:
    """Return the units of each part in order; a passage of one part has none.

    Args:
        units: Of one passage, in order.
        cutter: Cuts a unit that is longer than a part at its lines.
        rules: Sizes.
    """
    small = [piece for unit in units for piece in cutter.pieces(unit, rules.target_tokens)]
    found = list(_windows(small, rules))
    return found if len(found) > 1 else []


def _windows(units: Sequence[Unit], rules: PartRules) -> Iterator[list[Unit]]:
    start = 0
    while start < len(units):
        end = _fit(units, start, rules.target_tokens)
        yield list(units[start:end])
        start = len(units) if end == len(units) else _back(units, start, end, rules.overlap_tokens)


def _fit(units: Sequence[Unit], start: int, limit: int) -> int:
    """Return where a part that begins at ``start`` ends; it holds at least one unit."""
    end, tokens = start + 1, units[start].tokens
    while end < len(units) and tokens + units[end].tokens <= limit:
        tokens += units[end].tokens
        end += 1
    return end


def _back(units: Sequence[Unit], start: int, end: int, overlap: int) -> int:
    """Return where the next part begins: before ``end``, by as many units as the overlap holds."""
    tokens = 0
    while end - 1 > start and tokens + units[end - 1].tokens <= overlap:
        end -= 1
        tokens += units[end].tokens
    return end
