"""Keeps the memories of the present embedding model open."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TypeAlias

from mcp_server.engine import Engine
from retrieval.memory import MemoryStore

MemoryOpener: TypeAlias = Callable[[str, int], MemoryStore]
"""Digest of the model and the length of its vectors in, the memories made with it out."""


class MemoryKeeper:
    """Opens memories at their first use, so that who never remembers has no collection.

    Args:
        opener: Opens the memories of a model.
    """

    def __init__(self, opener: MemoryOpener) -> None:
        self._opener = opener
        self._stores: dict[str, MemoryStore] = {}

    def store(self, engine: Engine) -> MemoryStore:
        """Return the memories whose vectors come from the engine's model.

        Raises:
            IndexUnavailableError: They cannot be opened.
        """
        stamp = engine.info().stamp
        if stamp.model_digest not in self._stores:
            self._stores[stamp.model_digest] = self._opener(stamp.model_digest, stamp.dimension)
        return self._stores[stamp.model_digest]

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Close what was opened at the end of the block."""
        try:
            yield
        finally:
            for store in self._stores.values():
                await store.close()
