"""The words of passages, read once for many searches.

The guard's signals read the same sentences of the same popular passages again and again, and a
sentence's terms never change. Queries are not kept: each is read once.
"""

from __future__ import annotations

from functools import lru_cache

from retrieval.chunk import SparseVector
from retrieval.focus import Analyser

_KEPT_TEXTS = 8192
_LONGEST_CHARACTERS = 2000


class CachedAnalyser:
    """Reads terms as another analyser does, and remembers those of texts of ordinary length.

    Args:
        inner: Does the reading; its answers must depend on the text alone.
        size: Texts kept, those least recently read dropped first.
    """

    def __init__(self, inner: Analyser, *, size: int = _KEPT_TEXTS) -> None:
        self._inner = inner
        self._kept = lru_cache(maxsize=size)(inner.embed_document)

    def embed_document(self, text: str) -> SparseVector:
        """Return the terms of a passage or a sentence."""
        kept = len(text) <= _LONGEST_CHARACTERS
        return self._kept(text) if kept else self._inner.embed_document(text)

    def embed_query(self, text: str) -> SparseVector:
        """Return the terms of a query."""
        return self._inner.embed_query(text)
