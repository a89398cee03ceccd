"""Which build is in force, looked up at most every few seconds.

Both branches of an ask are pinned to this build, so they search the same index even when another
one is published between their calls.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from backend.asking.ports import Knowledge
from knowledge.contracts import IndexInfo
from knowledge.errors import KnowledgeTimeoutError
from service.logs import get_logger
from service.tokens import Claims

_logger = get_logger(__name__)
# Any text will do: what is wanted is the index in the answer.
_PROBE = "documentation"


class IndexWatch:
    """Remembers the index in force for a short while.

    Args:
        knowledge: The tool server.
        fresh_seconds: How long an answer holds.
        timeout_seconds: Longest a look may take; after that the index known before is used, and
            whether the tool server is well shows in the search itself.
        clock: Returns monotonic seconds.
    """

    def __init__(
        self,
        knowledge: Knowledge,
        *,
        fresh_seconds: float = 2.0,
        timeout_seconds: float = 2.5,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._knowledge = knowledge
        self._fresh_seconds = fresh_seconds
        self._timeout_seconds = timeout_seconds
        self._clock = clock
        self._known: IndexInfo | None = None
        self._looked_at = 0.0
        self._looking: asyncio.Task[IndexInfo] | None = None

    async def current(self) -> IndexInfo:
        """Return the index in force.

        Raises:
            KnowledgeError: The tool server cannot be reached or serves no index.
        """
        if self._known is not None and self._clock() - self._looked_at <= self._fresh_seconds:
            return self._known
        # All who ask meanwhile share one look, its failure included: nobody queues behind it.
        if self._looking is None:
            self._looking = asyncio.create_task(self._look())
            self._looking.add_done_callback(self._end_look)
        return await asyncio.shield(self._looking)

    def forget(self) -> None:
        """Look again at the next question."""
        self._known = None

    async def _look(self) -> IndexInfo:
        claims = Claims(ask_id="", branch="service", scopes=("service",))
        try:
            async with asyncio.timeout(self._timeout_seconds):
                index = (await self._knowledge.measure(_PROBE, (), claims)).index
        except TimeoutError as error:
            if self._known is None:
                raise KnowledgeTimeoutError("the tool server did not answer in time") from error
            _logger.warning("the index in force cannot be looked up in time")
            return self._known
        self._known, self._looked_at = index, self._clock()
        return index

    def _end_look(self, look: asyncio.Task[IndexInfo]) -> None:
        self._looking = None
        # Whoever waited has the error already; nobody is left to hear of it when all have gone.
        if not look.cancelled():
            look.exception()
