"""Tasks straight from the database, for an installation without a broker."""

from __future__ import annotations

import asyncio

from ingestion.task_loop import Delivery
from storage.job_queue import JobQueue


class SqlInbox:
    """Looks for a task now and then.

    Args:
        queue: Where tasks are.
        worker: Who takes them.
        poll_seconds: How often to look while there is none.
    """

    def __init__(self, queue: JobQueue, worker: str, *, poll_seconds: float) -> None:
        self._queue = queue
        self._worker = worker
        self._poll_seconds = poll_seconds

    async def next(self) -> Delivery:
        """Wait for a task."""
        while True:
            claim = await self._queue.claim(self._worker)
            if claim is not None:
                return Delivery(claim, _nothing)
            await asyncio.sleep(self._poll_seconds)


async def _nothing() -> None:
    """Keep quiet: the database knows already."""
