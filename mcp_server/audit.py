"""The record of every tool call: queued at once, committed in groups, complete when read.

A call's row is queued before its answer leaves, and the rows of an ask are those stored and those
still queued; so a reader sees every call that any caller has had an answer to, and neither an
answer nor a reader waits for a disk to write.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Protocol

from knowledge.contracts import AuditRow
from mcp_server.errors import AuditUnavailableError
from service.health import Check
from service.logs import get_logger
from storage.errors import StorageError

_log = get_logger(__name__)

_RETRY_SECONDS = 1.0
# A commit that hangs holds up an answer no longer than this when its row may wait.
_PATIENCE_SECONDS = 1.0


class AuditSink(Protocol):
    """Where audit rows are kept. Every method raises ``StorageError`` when it cannot."""

    async def write(self, rows: Sequence[AuditRow]) -> None:
        """Store rows in one transaction; they are committed when this returns."""
        ...

    async def rows(self, ask_id: str) -> Sequence[AuditRow]:
        """Return the stored rows of an ask in the order they were written."""
        ...

    async def calls(self, caller: str, start: datetime, end: datetime) -> Sequence[AuditRow]:
        """Return the stored rows of one caller between two times, in order."""
        ...

    async def erase(self, ask_ids: Sequence[str], caller: str) -> int:
        """Delete the rows of asks, and of one signed caller unless it is empty."""
        ...

    async def erase_before(self, moment: datetime) -> int:
        """Delete the rows of calls made before a moment."""
        ...


class AuditTrail:
    """Queues rows and commits them in groups.

    Args:
        sink: Where the rows go.
        waits: Whether an answer waits until its row is committed. Needed when several server
            processes share a database, because a reader can only make its own process commit.
        keeps: Whether answers go out while the sink is away, their rows kept here until it is back.
        linger_seconds: How long the writer lets rows gather.
        capacity: Rows kept while the sink refuses; beyond it calls are refused, because a call
            that leaves no trace must not be answered.
    """

    def __init__(
        self,
        sink: AuditSink,
        *,
        waits: bool = False,
        keeps: bool = False,
        linger_seconds: float = 0.1,
        capacity: int = 10_000,
    ) -> None:
        self._sink = sink
        self._waits = waits
        self._keeps = keeps
        self._linger_seconds = linger_seconds
        self._capacity = capacity
        self._queued: list[AuditRow] = []
        self._committing = asyncio.Lock()
        self._commits: set[asyncio.Task[None]] = set()
        self._has_rows = asyncio.Event()
        self._trouble = ""
        self._lost = 0

    @property
    def waiting(self) -> int:
        """Rows not yet committed."""
        return len(self._queued)

    def require_room(self) -> None:
        """Return when one more row can be kept.

        Raises:
            AuditUnavailableError: The sink has refused for so long that no more rows fit.
        """
        if len(self._queued) >= self._capacity:
            raise AuditUnavailableError("the audit cannot be written, so no call is answered")

    def record(self, row: AuditRow) -> None:
        """Queue a row; it is part of every later reading."""
        self._queued.append(row)
        self._has_rows.set()

    async def settle(self) -> None:
        """Return when answers may leave: at once, or after the commit when this trail waits.

        Raises:
            AuditUnavailableError: The trail waits, does not keep rows, and could not commit them.
        """
        # Once the sink is known to be away, the writer tries again and nobody waits for it.
        if not self._waits or (self._keeps and self._trouble):
            return
        if not self._keeps:
            await self.commit()
            return
        with suppress(AuditUnavailableError, TimeoutError):
            async with asyncio.timeout(_PATIENCE_SECONDS):
                await self.commit()

    async def rows(self, ask_id: str) -> tuple[AuditRow, ...]:
        """Return every finished call of an ask, in order.

        Raises:
            AuditUnavailableError: The sink cannot be read.
        """
        # No commit runs meanwhile, so that a row is either stored or queued and never both.
        async with self._committing:
            try:
                stored = await self._sink.rows(ask_id)
            except StorageError as error:
                raise AuditUnavailableError("the audit cannot be read") from error
            return (*stored, *(row for row in self._queued if row.ask_id == ask_id))

    async def calls(self, caller: str, start: datetime, end: datetime) -> tuple[AuditRow, ...]:
        """Return the finished calls of one caller between two times, in order.

        Raises:
            AuditUnavailableError: The sink cannot be read.
        """
        async with self._committing:
            try:
                stored = await self._sink.calls(caller, start, end)
            except StorageError as error:
                raise AuditUnavailableError("the audit cannot be read") from error
            queued = (
                row
                for row in self._queued
                if row.caller == caller and start <= datetime.fromisoformat(row.created_at) <= end
            )
            return (*stored, *queued)

    async def erase(self, ask_ids: Sequence[str], caller: str = "") -> int:
        """Delete the rows of asks, and of one signed caller when it is named.

        Raises:
            AuditUnavailableError: The sink cannot be written; nothing was deleted.
        """
        async with self._committing:
            try:
                count = await self._sink.erase(ask_ids, caller)
            except StorageError as error:
                raise AuditUnavailableError("the audit cannot be written") from error
            gone = {*ask_ids}
            kept = [
                row
                for row in self._queued
                if row.ask_id.partition("/")[0] not in gone
                and not (caller and row.caller == f"signed:{caller}")
            ]
            count += len(self._queued) - len(kept)
            self._queued[:] = kept
            return count

    async def erase_before(self, moment: datetime) -> int:
        """Delete the stored rows of calls made before a moment.

        Raises:
            AuditUnavailableError: The sink cannot be written.
        """
        try:
            return await self._sink.erase_before(moment)
        except StorageError as error:
            raise AuditUnavailableError("the audit cannot be written") from error

    async def commit(self) -> None:
        """Commit everything queued so far, together with whoever else is waiting.

        A transaction under way is finished even when its caller goes away: it holds other callers'
        rows, and one that was stored without being noticed would be stored again.

        Raises:
            AuditUnavailableError: The sink refuses; the rows stay queued.
        """
        task = asyncio.create_task(self._commit())
        self._commits.add(task)
        task.add_done_callback(self._forget)
        await asyncio.shield(task)

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._commits.discard(task)
        if not task.cancelled():
            task.exception()  # seen by whoever waits, when anyone still does

    async def _commit(self) -> None:
        async with self._committing:
            batch = self._queued[:]
            if not batch:
                return
            try:
                await self._sink.write(batch)
            except StorageError as error:
                self._trouble = str(error)
                raise AuditUnavailableError("the audit cannot be written") from error
            except Exception:  # noqa: BLE001 - a batch nothing can store must not block the rest
                _log.exception("audit_rows_lost", rows=len(batch))
                self._lost += len(batch)
            # Rows may have been queued meanwhile; they are behind those just committed.
            del self._queued[: len(batch)]
            self._trouble = ""

    async def probe(self) -> bool:
        """Find out whether the sink can be used, at the start and not at the first call."""
        try:
            await self._sink.rows("")
        except StorageError as error:
            if not self._trouble:
                _log.error("audit_not_there", reason=str(error), hint="run `vouch migrate`")
            self._trouble = f"{error}; is it migrated? run `vouch migrate`"
        else:
            self._trouble = ""
        return not self._trouble

    async def run(self) -> None:
        """Commit in groups until cancelled, then once more."""
        try:
            while not await self.probe():  # noqa: ASYNC110 - nothing tells when a database comes
                await asyncio.sleep(_RETRY_SECONDS)
            while True:
                await self._has_rows.wait()
                await asyncio.sleep(self._linger_seconds)
                self._has_rows.clear()
                await self._commit_or_retry()
        finally:
            await self._commit_or_retry()

    def health(self) -> Check:
        """Return whether rows can be written."""
        if self._trouble:
            detail = f"{len(self._queued)} rows wait: {self._trouble}"
            return Check(status="degraded", detail=detail)
        if self._lost:
            return Check(status="degraded", detail=f"{self._lost} rows could not be stored")
        return Check(status="ok")

    async def _commit_or_retry(self) -> None:
        try:
            await self.commit()
        except AuditUnavailableError as error:
            _log.error("audit_not_written", waiting=len(self._queued), reason=str(error.__cause__))
            self._has_rows.set()
            await asyncio.sleep(_RETRY_SECONDS)
