"""The worker process: ``python -m ingestion.worker``, and ``vouch worker``.

Runs jobs of the ingestion until it is stopped. It may be killed at any moment: what it was doing is
taken up by the next one.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from ingestion.executing import Executor
from ingestion.herald import Herald
from ingestion.task_loop import TaskLoop
from ingestion.toolbox import Toolbox
from ingestion.worker_metrics import CountedExecutor, WorkerMetrics, serve_metrics
from ingestion.worker_settings import WorkerSettings
from retrieval.profiles import load_profiles
from service.ending import end_tasks
from service.errors import BrokerError, VouchError
from service.health import installed_version
from service.inbox import Inbox, PolledInbox
from service.lifeline import follow_lifeline
from service.logs import configure_logging, get_logger
from service.metrics import open_registry
from storage.database import Database, database_url
from storage.errors import DatabaseUnavailableError
from storage.index_view import IndexView
from storage.job_outbox import JobOutbox
from storage.job_queue import Claim, JobQueue, LeaseRules
from storage.jobs import JobStore
from storage.migrate import check, require_current

_EXIT_BAD_SETTINGS = 2
_RECONNECT_SECONDS = 2.0

_logger = get_logger(__name__)


def main() -> int:
    """Work until told to stop; returns the exit status."""
    try:
        settings = WorkerSettings()
        configure_logging(settings, process="worker")
        url = database_url(settings.database_url, settings.data_dir, "vouch")
        _look_at_database(url)
    except VouchError as error:
        sys.stderr.write(f"vouch worker: {error}\n")
        return _EXIT_BAD_SETTINGS
    follow_lifeline(enabled=settings.lifeline)
    asyncio.run(_until_stopped(settings, url))
    return 0


def _look_at_database(url: str) -> None:
    """Refuse to start on tables of another version; a database that is away is waited for."""
    try:
        check(url)
    except DatabaseUnavailableError as error:
        _logger.warning("no database: jobs wait", detail=str(error))


async def _until_stopped(settings: WorkerSettings, url: str) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for wanted in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(wanted, stop.set)
    work = asyncio.create_task(run_worker(settings, url))
    waiting = asyncio.create_task(stop.wait())
    await asyncio.wait({work, waiting}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if work.done():
        work.result()
    await end_tasks(work)


async def run_worker(settings: WorkerSettings, url: str, toolbox: Toolbox | None = None) -> None:
    """Run jobs until cancelled.

    Args:
        settings: Of the process.
        url: Address of the database, brought to this version's tables.
        toolbox: The tools; None opens those of the settings.
    """
    database = Database(
        url, timeout_seconds=settings.database_timeout_seconds, schema=require_current
    )
    toolbox = toolbox or Toolbox(settings)
    worker = f"{socket.gethostname()}/{os.getpid()}/{uuid.uuid4().hex[:8]}"
    rules = LeaseRules(seconds=settings.job_lease_seconds, most_attempts=settings.job_most_attempts)
    queue, jobs = JobQueue(database, rules), JobStore(database)
    herald = Herald(
        settings, IndexView(database), jobs, toolbox, worker=worker,
        profiles=load_profiles(settings.profiles_file, settings.environment),
    )  # fmt: skip
    registry = open_registry("worker", version=installed_version())
    executor = CountedExecutor(settings, toolbox, WorkerMetrics(registry))
    serve_metrics(registry, settings)
    loop_of = _Loops(queue, jobs, executor, herald, settings.worker_tasks)
    try:
        await _when_there(herald.tidy)
        async with asyncio.TaskGroup() as group:
            group.create_task(herald.run())
            group.create_task(_serve(settings, database, queue, worker, loop_of))
    finally:
        await toolbox.close()
        await database.close()


async def _when_there(work: Callable[[], Awaitable[None]]) -> None:
    """Do something with the database, however long it takes to come."""
    while True:
        try:
            await work()
        except DatabaseUnavailableError as error:
            _logger.warning("no database: jobs wait", detail=str(error))
            await asyncio.sleep(_RECONNECT_SECONDS)
        else:
            return


class _Loops:
    """Several loops over one inbox."""

    def __init__(
        self, queue: JobQueue, jobs: JobStore, executor: Executor, herald: Herald, count: int
    ) -> None:
        self._queue = queue
        self._jobs = jobs
        self._executor = executor
        self._herald = herald
        self._count = count

    async def run(self, inbox: Inbox[Claim]) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(self._count):
                loop = TaskLoop(
                    inbox, self._queue, self._jobs, self._executor, ended=self._herald.job_ended
                )
                group.create_task(loop.run())


async def _serve(
    settings: WorkerSettings, database: Database, queue: JobQueue, worker: str, loops: _Loops
) -> None:
    if not settings.broker_url.get_secret_value():
        _logger.info("jobs come from the database", worker=worker)
        await loops.run(
            PolledInbox(lambda: queue.claim(worker), poll_seconds=settings.worker_poll_seconds)
        )
        return
    while True:
        try:
            async with _broker_inbox(settings, database, queue, worker) as inbox:
                _logger.info("jobs come from the broker", worker=worker)
                await loops.run(inbox)
        except BrokerError as error:
            _logger.warning("no broker: jobs wait", detail=str(error))
            await asyncio.sleep(_RECONNECT_SECONDS)


@asynccontextmanager
async def _broker_inbox(
    settings: WorkerSettings, database: Database, queue: JobQueue, worker: str
) -> AsyncGenerator[Inbox[Claim]]:
    from service.broker import BrokerNames, open_broker, receive  # noqa: PLC0415 - only with a broker

    names = BrokerNames(
        settings.broker_exchange, settings.broker_ingestion_queue, settings.broker_redelivery_limit
    )

    async def claim(task_id: str, is_redelivered: bool) -> Claim | None:  # noqa: FBT001 - the broker's shape
        return await queue.claim_task(task_id, worker, is_redelivered=is_redelivered)

    url = settings.broker_url.get_secret_value()
    async with (
        open_broker(url, names, prefetch=settings.broker_prefetch) as broker,
        receive(
            broker, claim, JobOutbox(database), poll_seconds=settings.worker_poll_seconds
        ) as inbox,
    ):
        yield inbox


if __name__ == "__main__":
    sys.exit(main())
