"""How many asks run and wait at once; the rest are told when to come back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from backend.errors import OverloadedError


class Admission:
    """A bounded number of places with a bounded queue before them.

    Args:
        running: Places.
        waiting: Places in the queue.
        retry_after_seconds: What a refused caller is told.
    """

    def __init__(self, *, running: int, waiting: int, retry_after_seconds: int = 5) -> None:
        self._places = asyncio.Semaphore(running)
        self._most_waiting = waiting
        self._retry_after_seconds = retry_after_seconds
        self.running = 0
        self.waiting = 0

    @asynccontextmanager
    async def place(self, *, within_seconds: float | None = None) -> AsyncGenerator[None]:
        """Hold a place during the block.

        Args:
            within_seconds: Longest time to wait for it; None for no bound.

        Raises:
            OverloadedError: Every place is taken and the queue is full, or none came free in time.
        """
        if self._places.locked() and self.waiting >= self._most_waiting:
            raise self.refusal()
        self.waiting += 1
        try:
            async with asyncio.timeout(within_seconds):
                await self._places.acquire()
        except TimeoutError as error:
            raise self.refusal() from error
        finally:
            self.waiting -= 1
        self.running += 1
        try:
            yield
        finally:
            self.running -= 1
            self._places.release()

    def refusal(self) -> OverloadedError:
        """Return the error of a caller who cannot be served now."""
        return OverloadedError(
            f"{self.running} questions are being answered and {self.waiting} are waiting",
            retry_after_seconds=self._retry_after_seconds,
        )
