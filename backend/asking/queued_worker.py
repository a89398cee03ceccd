"""Works queued questions off: the same guard, agent, limits and record as for any other ask.

What a direct ask would be told to try again (a full house, an index or database that is away) is
tried again here. Everything else ends the question with the problem document of a direct ask.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

from backend.asking.ask import Asker
from backend.asking.queued import QueuedAsks, read_caller
from backend.asking.queued_settings import QueuedAskSettings
from backend.caller import Caller
from backend.contract import AskRequest
from backend.errors import OverloadedError
from backend.problems import Problem, describe_error
from service.ending import end_tasks
from service.errors import BrokerError, VouchError
from service.inbox import Inbox, PolledInbox
from service.logs import get_logger
from storage.asks import AskStore
from storage.errors import StorageError
from storage.queued_asks import AskClaim, AskQueue

_EXTEND_SECONDS = 5.0
_OUTAGE_SECONDS = 2.0
_BUSY_SECONDS = 1.0
_RETRY_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 60.0
_PURGE_SECONDS = 3600.0
_UNAVAILABLE = 503
_GIVEN_UP = Problem(
    title="Given up", status=500, code="given_up", detail="no attempt came to its end"
)

_logger = get_logger(__name__)


class CallerCheck(Protocol):
    """Knows whether somebody who asked earlier may still ask."""

    async def recheck(self, caller: Caller) -> Caller:
        """Return the caller with what holds now.

        Raises:
            NotAuthenticatedError: Their key was revoked, or nobody may ask without one any more.
        """
        ...


@dataclass(frozen=True, slots=True)
class QueuedWork:
    """What it takes to work a question off.

    Attributes:
        asks: The questions.
        asker: Answers them.
        store: Has the records.
        callers: Knows who may still ask.
        settings: How many at once, how often again.
    """

    asks: QueuedAsks
    asker: Asker
    store: AskStore
    callers: CallerCheck
    settings: QueuedAskSettings

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Work questions off during the block; what is cut off is given back."""
        if self.settings.queued_asks_running == 0:
            yield
            return
        tasks = [asyncio.create_task(self._serve()), asyncio.create_task(self._purge())]
        try:
            yield
        finally:
            await end_tasks(*tasks)

    async def _serve(self) -> None:
        if not self.settings.broker_url.get_secret_value():
            await self._work_off(
                PolledInbox(
                    self._queue.claim,
                    poll_seconds=self.settings.queued_asks_poll_seconds,
                    woken=self.asks.added,
                )
            )
            return
        while True:
            try:
                async with self._broker_inbox() as inbox:
                    await self._work_off(inbox)
            except BrokerError as error:
                _logger.warning("no broker: questions wait", detail=str(error))
                await asyncio.sleep(_OUTAGE_SECONDS)

    @asynccontextmanager
    async def _broker_inbox(self) -> AsyncGenerator[Inbox[AskClaim]]:
        from service.broker import BrokerNames, open_broker, receive  # noqa: PLC0415 - only with a broker

        settings = self.settings
        names = BrokerNames(
            settings.broker_exchange,
            settings.broker_request_queue,
            settings.broker_redelivery_limit,
        )

        async def claim(ask_id: str, is_redelivered: bool) -> AskClaim | None:  # noqa: FBT001 - the broker's shape
            return await self._queue.claim_named(ask_id, is_redelivered=is_redelivered)

        url = settings.broker_url.get_secret_value()
        async with (
            open_broker(url, names, prefetch=settings.queued_asks_running) as broker,
            receive(
                broker,
                claim,
                self._queue,
                poll_seconds=settings.queued_asks_poll_seconds,
                woken=self.asks.added,
            ) as inbox,
        ):
            yield inbox

    async def _work_off(self, inbox: Inbox[AskClaim]) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(self.settings.queued_asks_running):
                group.create_task(self._loop(inbox))

    async def _loop(self, inbox: Inbox[AskClaim]) -> None:
        while True:
            try:
                delivery = await inbox.next()
                await self._handle(delivery.claim)
                await delivery.acknowledge()
            except StorageError as error:
                _logger.warning("the database is away", detail=str(error))
                await asyncio.sleep(_OUTAGE_SECONDS)

    async def _handle(self, claim: AskClaim) -> None:
        if claim.attempt > self.settings.queued_asks_most_attempts:
            await self._fail(claim, _GIVEN_UP)
            return
        extending = asyncio.create_task(self._extend(claim))
        try:
            await self._answer(claim)
        except asyncio.CancelledError:
            with suppress(VouchError):
                await asyncio.shield(self._queue.postpone(claim, seconds=0, counts=False))
            raise
        except OverloadedError:
            await self._queue.postpone(claim, seconds=_BUSY_SECONDS, counts=False)
        except VouchError as error:
            await self._settle(claim, describe_error(error))
        except Exception:  # the edge of the process: a bug costs its question, and is logged
            _logger.exception("a queued question broke", ask_id=claim.ask.id)
            await self._fail(claim, describe_error(VouchError()))
        finally:
            await end_tasks(extending)

    async def _answer(self, claim: AskClaim) -> None:
        # Somebody may have been killed between the record and the end of the row.
        if await self.store.find(claim.ask.id) is None:
            caller = await self.callers.recheck(read_caller(claim.ask.caller))
            request = AskRequest.model_validate(claim.ask.request)
            await self.asker.answer(request, caller, ask_id=claim.ask.id)
        await self._queue.answered(claim)

    async def _settle(self, claim: AskClaim, problem: Problem) -> None:
        is_last = claim.attempt >= self.settings.queued_asks_most_attempts
        if problem.status != _UNAVAILABLE or is_last:
            await self._fail(claim, problem)
            return
        pause = min(_RETRY_SECONDS * 2**claim.attempt, _LONGEST_PAUSE_SECONDS)
        _logger.warning("question postponed", ask_id=claim.ask.id, code=problem.code)
        await self._queue.postpone(claim, seconds=pause, counts=True)

    async def _fail(self, claim: AskClaim, problem: Problem) -> None:
        _logger.warning("question not answered", ask_id=claim.ask.id, code=problem.code)
        await self._queue.failed(claim, problem.model_dump(mode="json"))

    async def _extend(self, claim: AskClaim) -> None:
        while True:
            await asyncio.sleep(_EXTEND_SECONDS)
            try:
                await self._queue.extend(claim)
            except StorageError as error:
                # The lease outlasts a short outage; after a long one somebody else answers.
                _logger.warning("lease not prolonged", detail=str(error))

    async def _purge(self) -> None:
        keep = timedelta(seconds=self.settings.queued_asks_keep_seconds)
        while True:
            try:
                await self._queue.purge_failed(datetime.now(UTC) - keep)
            except StorageError as error:
                _logger.warning("failed questions not purged", detail=str(error))
            await asyncio.sleep(_PURGE_SECONDS)

    @property
    def _queue(self) -> AskQueue:
        return self.asks.queue
