"""Which build is in force, looked up at most every few seconds.

Both branches of an ask are pinned to this build, so they search the same index even when another
one is published between their calls.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from backend.ports import Knowledge
from knowledge.contracts import IndexInfo
from service.tokens import Claims

# Any text will do: what is wanted is the index in the answer.
_PROBE = "documentation"


class IndexWatch:
    """Remembers the index in force for a short while.

    Args:
        knowledge: The tool server.
        fresh_seconds: How long an answer holds.
        clock: Returns monotonic seconds.
    """

    def __init__(
        self,
        knowledge: Knowledge,
        *,
        fresh_seconds: float = 2.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._knowledge = knowledge
        self._fresh_seconds = fresh_seconds
        self._clock = clock
        self._lock = asyncio.Lock()
        self._known: IndexInfo | None = None
        self._looked_at = 0.0

    async def current(self) -> IndexInfo:
        """Return the index in force.

        Raises:
            KnowledgeError: The tool server cannot be reached or serves no index.
        """
        async with self._lock:
            if self._known is None or self._clock() - self._looked_at > self._fresh_seconds:
                claims = Claims(ask_id="", branch="service", scopes=("service",))
                self._known = (await self._knowledge.measure(_PROBE, (), claims)).index
                self._looked_at = self._clock()
            return self._known

    def forget(self) -> None:
        """Look again at the next question."""
        self._known = None
