"""The life of a worker: take a task, keep its lease, do it, keep what came of it, take the next.

Where tasks come from is the inbox's business; what happens to one is the same code whether the
database or a broker handed it over.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeAlias

from pydantic import JsonValue

from ingestion.errors import BusyError, IngestionError
from ingestion.executing import Executor, Finished, Planned, Prepared
from ingestion.report import Progress, ProgressEvent
from retrieval.errors import IndexUnavailableError, RetrievalError
from service.errors import VouchError
from service.inbox import Inbox
from service.logs import get_logger
from storage.errors import DatabaseUnavailableError, LeaseLostError, StorageError
from storage.job_queue import Claim, JobQueue, Standing
from storage.jobs import JobStore

_LOOK_SECONDS = 0.5
_BUSY_SECONDS = 2.0
_RETRY_SECONDS = 2.0
_OUTAGE_SECONDS = 2.0

Outcome: TypeAlias = Planned | Prepared | Finished

_logger = get_logger(__name__)


class TaskLoop:
    """Does one task after another.

    Args:
        inbox: Where they come from.
        queue: Where their leases and results are kept.
        jobs: Their jobs.
        executor: What a task does.
        ended: Called after a job has ended.
    """

    def __init__(
        self,
        inbox: Inbox[Claim],
        queue: JobQueue,
        jobs: JobStore,
        executor: Executor,
        *,
        ended: Callable[[Claim], Awaitable[None]],
    ) -> None:
        self._inbox = inbox
        self._queue = queue
        self._jobs = jobs
        self._executor = executor
        self._ended = ended

    async def run(self) -> None:
        """Work until cancelled; a task that is cut off is given back."""
        while True:
            try:
                delivery = await self._inbox.next()
                await self._handle(delivery.claim)
                await delivery.acknowledge()
            except LeaseLostError as error:
                _logger.warning("result not kept", detail=str(error))
            except StorageError as error:
                _logger.warning("the database is away", detail=str(error))
                await asyncio.sleep(_OUTAGE_SECONDS)

    async def _handle(self, claim: Claim) -> None:
        try:
            await self._work(claim)
        except asyncio.CancelledError:
            with suppress(VouchError):
                await asyncio.shield(
                    self._queue.postpone(claim, seconds=0, counts=False, reason="")
                )
            raise
        except BusyError as error:
            await self._queue.postpone(
                claim, seconds=_BUSY_SECONDS, counts=False, reason=str(error)
            )
        except (IndexUnavailableError, OSError) as error:
            await self._later(claim, error)
        except (IngestionError, RetrievalError) as error:
            await self._fail(claim, error.code, str(error))
        except StorageError:
            raise
        except Exception as error:  # the edge of the process: a bug costs its job, and is logged
            _logger.exception("a task broke", task=claim.task.id)
            await self._fail(claim, VouchError.code, f"{type(error).__name__}: {error}")

    async def _work(self, claim: Claim) -> None:
        meter = _Meter()
        task = asyncio.create_task(self._execute(claim, meter.note))
        try:
            if await self._attend(claim, task, meter) == "cancelled":
                await self._fail(claim, "", "")
                return
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task
        await self._settle(claim, task.result())

    async def _attend(self, claim: Claim, task: asyncio.Task[Outcome], meter: _Meter) -> Standing:
        """Prolong the lease, pass progress on and look for a cancellation, until it is done.

        Raises:
            LeaseLostError: Another worker has the task now.
        """
        while not (await asyncio.wait({task}, timeout=_LOOK_SECONDS))[0]:
            standing = await self._report(claim, meter)
            if standing == "lost":
                raise LeaseLostError(f"task {claim.task.id} is in other hands")
            if standing == "cancelled":
                return standing
        return "held"

    async def _report(self, claim: Claim, meter: _Meter) -> Standing:
        try:
            if (progress := meter.take()) is not None:
                await self._queue.note(claim.job.id, progress)
            return await self._queue.extend(claim)
        except DatabaseUnavailableError as error:
            # The lease outlasts a short outage; after a long one the result is refused.
            _logger.warning("lease not prolonged", detail=str(error))
            return "held"

    async def _execute(self, claim: Claim, progress: Progress) -> Outcome:
        match claim.task.kind:
            case "plan":
                return await self._executor.plan(claim)
            case "document":
                return await self._executor.prepare(claim)
            case _:
                documents = list(await self._jobs.documents(claim.job.id))
                return await self._executor.finish(claim, documents, progress)

    async def _settle(self, claim: Claim, outcome: Outcome) -> None:
        match outcome:
            case Planned():
                await self._queue.planned(claim, outcome.names, outcome.staging)
            case Prepared():
                await self._queue.document_done(claim, chunks=outcome.chunks, reason=outcome.reason)
            case Finished():
                await self._queue.finished(claim, build=outcome.build, report=outcome.report)
                await self._ended(claim)

    async def _later(self, claim: Claim, error: Exception) -> None:
        _logger.warning("task postponed", task=claim.task.id, detail=str(error))
        await self._queue.postpone(
            claim, seconds=_RETRY_SECONDS * 2**claim.attempt, counts=True, reason=str(error)
        )

    async def _fail(self, claim: Claim, code: str, error: str) -> None:
        if claim.task.kind == "document" and code:
            await self._queue.document_done(claim, chunks=0, reason=error)
            return
        await self._queue.failed(claim, code=code, error=error)
        await self._ended(claim)


class _Meter:
    """Keeps the newest progress until somebody takes it."""

    def __init__(self) -> None:
        self._latest: ProgressEvent | None = None

    def note(self, event: ProgressEvent) -> None:
        """Take the place of what was there."""
        self._latest = event

    def take(self) -> dict[str, JsonValue] | None:
        """Return what is new, or None."""
        event, self._latest = self._latest, None
        if event is None:
            return None
        return {
            "stage": event.stage,
            "done": event.done,
            "total": event.total,
            "per_second": round(event.per_second, 2),
            "seconds_left": event.seconds_left,
        }
