"""Deletes records: one, a caller's, or those older than they may get.

The tool server forgets its rows first. When it is away nothing is deleted, and the next try begins
where this one stopped: what is left is never half a record that nobody can find again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from types import TracebackType
from typing import Protocol, Self

from prometheus_client import CollectorRegistry, Counter, Gauge

from backend.asking.records import Recorder
from backend.errors import UnknownAskError
from service.errors import VouchError
from service.logs import get_logger
from storage.columns import utc_now
from storage.database import Database
from storage.erasing import RecordEraser
from storage.spending import SpendingStore

_BATCH = 100
_SWEEP_SECONDS = 3600.0
_NOTHING = "-"

_logger = get_logger(__name__)


class ForgetsAsks(Protocol):
    """The tool server as an erasure sees it."""

    async def forget(self, ask_ids: Sequence[str], caller: str = "") -> None:
        """Delete the audit rows of asks, and of one caller when it is named."""
        ...


class Erasure:
    """Deletes records everywhere.

    Args:
        database: Where the records are.
        knowledge: The tool server, with its audit.
        recorder: Knows what is spooled.
        registry: Of the process.
    """

    def __init__(
        self,
        database: Database,
        knowledge: ForgetsAsks,
        recorder: Recorder,
        registry: CollectorRegistry,
    ) -> None:
        self._database = database
        self._eraser = RecordEraser(database)
        self._spending = SpendingStore(database)
        self._knowledge = knowledge
        self._recorder = recorder
        self._deleted = Counter(
            "vouch_records_deleted", "Recorded asks deleted.", ("why",), registry=registry
        )
        self._swept = Gauge(
            "vouch_retention_swept_timestamp_seconds", "When old records were last all deleted.",
            registry=registry,
        )  # fmt: skip

    async def erase_one(self, ask_id: str) -> None:
        """Delete one record.

        Raises:
            UnknownAskError: There is none with this id.
            KnowledgeError: The tool server cannot be reached; nothing was deleted.
            StorageError: The database cannot be written.
        """
        spooled = await self._recorder.unspool(lambda record: record.id == ask_id)
        await self._knowledge.forget([ask_id])
        if not await self._eraser.erase([ask_id]) and not spooled:
            raise UnknownAskError("there is no such record")
        await self._finish("request", 1)

    async def erase_caller(self, caller: str) -> int:
        """Delete every record of a caller and what it left beside them; returns how many.

        Raises:
            KnowledgeError: The tool server cannot be reached.
            StorageError: The database cannot be written.
        """
        spooled = await self._recorder.unspool(lambda record: record.caller == caller)
        await self._knowledge.forget([_NOTHING], caller)
        count = await self._erase_all(lambda: self._eraser.ids_of(caller, limit=_BATCH))
        await self._eraser.erase_beside(caller)
        await self._finish("request", count + spooled)
        return count + spooled

    async def erase_before(self, moment: datetime) -> int:
        """Delete every record made before a moment; returns how many.

        Raises:
            KnowledgeError: The tool server cannot be reached.
            StorageError: The database cannot be written.
        """
        spooled = await self._recorder.unspool(lambda record: record.created_at < moment)
        count = await self._erase_all(lambda: self._eraser.ids_before(moment, limit=_BATCH))
        await self._spending.purge(moment.date())
        await self._finish("retention", count + spooled)
        self._swept.set_to_current_time()
        return count + spooled

    async def _erase_all(self, find: Callable[[], Awaitable[Sequence[str]]]) -> int:
        count = 0
        while ask_ids := await find():
            await self._knowledge.forget(ask_ids)
            count += await self._eraser.erase(ask_ids)
        return count

    async def _finish(self, why: str, count: int) -> None:
        self._deleted.labels(why).inc(count)
        if count:
            await self._database.wipe_log()


class RetentionSweep:
    """Deletes old records now and every hour; an asynchronous context manager.

    Args:
        erasure: Deletes.
        days: How long records are kept; zero keeps them for ever.
        clock: Returns the present moment in UTC.
    """

    def __init__(
        self, erasure: Erasure, *, days: int, clock: Callable[[], datetime] = utc_now
    ) -> None:
        self._erasure = erasure
        self._days = days
        self._clock = clock
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Begin, when there is anything to do."""
        if self._days:
            self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def sweep(self) -> int:
        """Delete what is too old now; returns how many records.

        Raises:
            VouchError: Not everything could be deleted.
        """
        return await self._erasure.erase_before(self._clock() - timedelta(days=self._days))

    async def _run(self) -> None:
        while True:
            try:
                count = await self.sweep()
                if count:
                    _logger.info("old records deleted", records=count, days=self._days)
            except VouchError as error:
                _logger.warning("old records wait to be deleted", detail=str(error))
            await asyncio.sleep(_SWEEP_SECONDS)
