"""Lets the agent of some refused asks finish unseen, to count the guard's likely mistakes.

Nothing of it is ever shown to whoever asked. An answer whose citations were verified speaks for
the refusal having been a mistake; it is counted and kept with the record.
"""

from __future__ import annotations

import asyncio
import uuid
from types import TracebackType
from typing import Protocol, Self

from agent.contract import AgentOutcome
from backend.asking.branches import AskFrame
from backend.citing.citations import cite
from backend.metrics import AskMetrics
from service.logs import get_logger
from storage.asks import JsonObject
from storage.errors import StorageError

_logger = get_logger(__name__)
_AT_ONCE = 2
_SECONDS = 120.0


class UnseenAgent(Protocol):
    """Answers a question nobody will see the answer of."""

    async def answer_unseen(self, frame: AskFrame) -> AgentOutcome | None:
        """Return what the agent says; None when it fails."""
        ...


class ShadowStore(Protocol):
    """Keeps what an agent would have said with its record."""

    async def note_shadow(self, ask_id: str, shadow: JsonObject) -> None:
        """Keep it."""
        ...


class ShadowRuns:
    """Runs agents in the background; leaving its context ends those still running.

    Args:
        agent: Answers unseen.
        store: Keeps the outcome.
        metrics: Counts it.
        share: Of refusals that are looked into, in [0, 1].
    """

    def __init__(
        self, agent: UnseenAgent, *, store: ShadowStore, metrics: AskMetrics, share: float
    ) -> None:
        self._agent = agent
        self._store = store
        self._metrics = metrics
        self._share = share
        self._places = asyncio.Semaphore(_AT_ONCE)
        self._running: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        """Nothing to open."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End what still runs."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    def consider(self, frame: AskFrame) -> None:
        """Look into a refused ask when it falls into the share; returns at once."""
        if not falls_into(frame.ask_id, self._share) or self._places.locked():
            return
        task = asyncio.create_task(self._run(frame))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def settle(self) -> None:
        """Wait until everything that runs now has ended."""
        await asyncio.gather(*self._running)

    async def _run(self, frame: AskFrame) -> None:
        async with self._places:
            try:
                async with asyncio.timeout(_SECONDS):
                    outcome = await self._agent.answer_unseen(frame)
            except TimeoutError:
                outcome = None
            result, answer = examine(outcome)
            self._metrics.note_shadow(result)
            try:
                await self._store.note_shadow(frame.ask_id, {"result": result, "answer": answer})
            except StorageError as error:
                _logger.warning("shadow answer cannot be kept", detail=str(error))


def falls_into(ask_id: str, share: float) -> bool:
    """Whether an ask is among a share of all; the same ask always gives the same answer."""
    return uuid.UUID(ask_id).int / 2**128 < share


def examine(outcome: AgentOutcome | None) -> tuple[str, str]:
    """Return ``verified``, ``unverified``, ``refused`` or ``failed``, and the answer."""
    if outcome is None:
        return "failed", ""
    if outcome.status == "refused":
        return "refused", ""
    cited = cite(outcome.text, outcome.evidence, "mark")
    is_verified = cited.supported and all(citation.verified for citation in cited.citations)
    return ("verified" if is_verified else "unverified"), cited.text
