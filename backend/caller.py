"""Who asks, what they may do, and which evidence they may see."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

CallerScope = Literal["ask", "review", "ingest", "admin", "metrics"]


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks.

    Attributes:
        name: For records and limits; different for each key.
        labels: Access labels granted; evidence with a label outside this set is invisible.
        scopes: What the caller may do; ``admin`` includes every other.
        daily_tokens: Model tokens a UTC day; zero for no budget of its own.
        has_key: Whether the caller showed a valid key.
    """

    name: str
    labels: tuple[str, ...] = ()
    scopes: frozenset[str] = frozenset({"ask"})
    daily_tokens: int = 0
    has_key: bool = False

    def may_read(self, labels: Collection[str]) -> bool:
        """Whether a record made under these labels may be shown to this caller."""
        return set(labels) <= set(self.labels)

    def may(self, scope: CallerScope) -> bool:
        """Whether the caller may do what needs this scope."""
        return scope in self.scopes or "admin" in self.scopes


ANONYMOUS = Caller(name="anonymous")
"""Somebody without a key, where that is allowed."""

LOCAL = Caller(name="anonymous", scopes=frozenset({"admin"}))
"""The one user of an installation that only this machine can reach."""
