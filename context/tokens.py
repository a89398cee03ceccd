"""What the context tools need of a tokenizer; the embedding model's own one fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class TokenCounter(Protocol):
    """Counts and locates tokens."""

    def count(self, text: str) -> int:
        """Return the number of tokens of a text, special tokens not counted."""
        ...

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text."""
        ...

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the character span of each token."""
        ...
