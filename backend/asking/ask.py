"""One ask as a stream of typed stage events, under admission and a total deadline.

Every door (JSON, page, server-sent events) consumes this stream. Nothing of an answer is in it
before the verdict, and the last event carries the response only after its record was stored.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator
from typing import Protocol

from backend.asking.admission import Admission
from backend.asking.branches import Emit
from backend.caller import Caller
from backend.contract import AskRequest, AskResponse
from backend.errors import AskTimeoutError
from backend.events import Done, StageEvent
from backend.metrics import AskMetrics
from service.errors import VouchError

# Of the total deadline, at most this is spent in the queue.
_WAITING_SHARE = 0.5


class AskWork(Protocol):
    """Does the work of one ask."""

    async def run(
        self, request: AskRequest, caller: Caller, emit: Emit, *, ask_id: str | None = None
    ) -> AskResponse:
        """Return the response, its record stored; every stage before it is emitted.

        Args:
            request: What is asked.
            caller: Who asks.
            emit: Takes the stages.
            ask_id: Id given out before; None makes one.
        """
        ...


class Asker:
    """Answers questions.

    Args:
        work: Does the work of one ask.
        admission: How many asks run at once.
        metrics: Counts and times.
        timeout_seconds: Longest an ask may take, waiting included.
    """

    def __init__(
        self,
        work: AskWork,
        *,
        admission: Admission,
        metrics: AskMetrics,
        timeout_seconds: float,
    ) -> None:
        self._work = work
        self._admission = admission
        self._metrics = metrics
        self._timeout_seconds = timeout_seconds

    async def ask(
        self, request: AskRequest, caller: Caller, *, ask_id: str | None = None
    ) -> AsyncGenerator[StageEvent]:
        """Yield the stages of one ask; the last one is ``Done``.

        A stage comes again when the index was replaced under the ask. Leaving the stream early
        cancels the ask.

        Args:
            request: What is asked.
            caller: Who asks.
            ask_id: Id given out before; None makes one.

        Raises:
            OverloadedError: Every place and waiting place is taken.
            AskTimeoutError: The total deadline passed.
            KnowledgeError: The guard's search cannot run: there is no unguarded answer.
            AgentError: The evidence suffices and the agent failed.
            RecordUnavailableError: The record cannot be stored.
        """
        events: asyncio.Queue[StageEvent | None] = asyncio.Queue()
        # A task of its own: a task group cannot live in a generator that its consumer may leave.
        work = asyncio.create_task(self._run(request, caller, events.put_nowait, ask_id))
        work.add_done_callback(lambda _: events.put_nowait(None))
        try:
            while (event := await events.get()) is not None:
                yield event
            await work
        finally:
            work.cancel()
            with contextlib.suppress(asyncio.CancelledError, VouchError):
                await work

    async def answer(
        self, request: AskRequest, caller: Caller, *, ask_id: str | None = None
    ) -> AskResponse:
        """Return the response of one ask; raises what ``ask`` raises."""
        async with contextlib.aclosing(self.ask(request, caller, ask_id=ask_id)) as events:
            async for event in events:
                if isinstance(event, Done):
                    return event.response
        raise AskTimeoutError("the stages of the ask ended without an answer")

    async def _run(
        self, request: AskRequest, caller: Caller, emit: Emit, ask_id: str | None
    ) -> None:
        started = time.perf_counter()
        try:
            response = await self._admit(request, caller, emit, ask_id)
        except VouchError as error:
            self._metrics.note_failure(error.code)
            self._metrics.note_seconds(error.code, time.perf_counter() - started)
            raise
        self._metrics.note_response(response)
        self._metrics.note_seconds(response.status, time.perf_counter() - started)
        emit(Done(response))

    async def _admit(
        self, request: AskRequest, caller: Caller, emit: Emit, ask_id: str | None
    ) -> AskResponse:
        # Whoever gets a place still has time to be answered; who would not is told to come back.
        has_place = False
        place = self._admission.place(within_seconds=self._timeout_seconds * _WAITING_SHARE)
        try:
            async with asyncio.timeout(self._timeout_seconds), place:
                has_place = True
                return await self._work.run(request, caller, emit, ask_id=ask_id)
        except TimeoutError as error:
            if not has_place:
                raise self._admission.refusal() from error
            message = f"no answer within {self._timeout_seconds:g} seconds"
            raise AskTimeoutError(message) from error
