"""Who asks, and which evidence they may see."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks.

    Attributes:
        name: For records and limits.
        labels: Access labels granted; evidence with a label outside this set is invisible.
    """

    name: str
    labels: tuple[str, ...] = ()

    def may_read(self, labels: tuple[str, ...] | list[str]) -> bool:
        """Whether a record made under these labels may be shown to this caller."""
        return set(labels) <= set(self.labels)


ANONYMOUS = Caller(name="anonymous")
