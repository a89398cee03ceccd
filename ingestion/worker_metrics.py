"""What a worker counts, and the address where it is collected."""

from __future__ import annotations

import time
from collections.abc import Awaitable
from typing import TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server

from ingestion.executing import Executor, Finished, Planned, Prepared
from ingestion.report import Progress
from ingestion.toolbox import Toolbox
from ingestion.worker_settings import WorkerSettings
from service.errors import VouchError
from service.metrics import LATENCY_BUCKETS_SECONDS
from storage.job_queue import Claim
from storage.jobs import TaskRecord

_Outcome = TypeVar("_Outcome")


class WorkerMetrics:
    """Metrics of the tasks of one worker.

    Args:
        registry: Of the process.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self.tasks = Counter(
            "vouch_worker_tasks",
            "Tasks by kind and how they ended: done, or the code of the error.",
            ("kind", "outcome"),
            registry=registry,
        )
        self.seconds = Histogram(
            "vouch_worker_task_seconds",
            "Time of a task.",
            ("kind",),
            buckets=LATENCY_BUCKETS_SECONDS,
            registry=registry,
        )
        self.running = Gauge("vouch_worker_tasks_running", "Tasks being done.", registry=registry)

    async def counted(self, kind: str, work: Awaitable[_Outcome]) -> _Outcome:
        """Count and time one task."""
        started, outcome = time.perf_counter(), "broken"
        self.running.inc()
        try:
            found = await work
            outcome = "done"
        except VouchError as error:
            outcome = error.code
            raise
        finally:
            self.running.dec()
            self.tasks.labels(kind, outcome).inc()
            self.seconds.labels(kind).observe(time.perf_counter() - started)
        return found


class CountedExecutor(Executor):
    """Does tasks and counts them.

    Args:
        settings: Of the worker.
        toolbox: What tasks are done with.
        metrics: Where they are counted.
    """

    def __init__(self, settings: WorkerSettings, toolbox: Toolbox, metrics: WorkerMetrics) -> None:
        super().__init__(settings, toolbox)
        self._metrics = metrics

    async def plan(self, claim: Claim) -> Planned:
        """Find out what a job has to do."""
        return await self._metrics.counted("plan", super().plan(claim))

    async def prepare(self, claim: Claim) -> Prepared:
        """Prepare one document."""
        return await self._metrics.counted("document", super().prepare(claim))

    async def finish(
        self, claim: Claim, documents: list[TaskRecord], progress: Progress
    ) -> Finished:
        """Make and publish the build."""
        return await self._metrics.counted("finish", super().finish(claim, documents, progress))


def serve_metrics(registry: CollectorRegistry, settings: WorkerSettings) -> None:
    """Serve ``/metrics`` in a thread of its own when a port is set."""
    if settings.worker_metrics_port:
        start_http_server(
            settings.worker_metrics_port, addr=settings.worker_metrics_host, registry=registry
        )
