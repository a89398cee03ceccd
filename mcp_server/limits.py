"""Bounds on calls: so many a minute for each caller, so many at once, so many waiting."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from mcp_server.errors import OverloadedError, RateLimitedError
from service.limiter import Limiter, LocalLimiter
from service.rate import Rate


class RateLimit:
    """Holds each caller to its calls a minute, which may come in one burst.

    Args:
        calls_per_minute: Calls a caller may make in a minute.
        limiter: Counts; None counts in this process.
    """

    def __init__(self, calls_per_minute: int, *, limiter: Limiter | None = None) -> None:
        self._rate = Rate(calls_per_minute)
        self._limiter = limiter or LocalLimiter()

    async def spend(self, caller: str) -> None:
        """Count one call.

        Raises:
            RateLimitedError: The caller has none left.
        """
        standing = await self._limiter.arrive(f"tools:{caller}", self._rate)
        if not standing.is_allowed:
            raise RateLimitedError(
                f"more than {self._rate.count} calls in a minute",
                retry_after_seconds=max(1, math.ceil(standing.retry_after_seconds)),
            )


class Turnstile:
    """Lets so many calls run, so many wait, and refuses the rest at once.

    Args:
        running: Calls that run at the same time.
        waiting: Calls that may wait for their turn.
    """

    def __init__(self, *, running: int, waiting: int) -> None:
        self._turns = asyncio.Semaphore(running)
        self._waiting_limit = waiting
        self._waiting = 0

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[None]:
        """Hold one turn for the length of the block.

        Raises:
            OverloadedError: Too many calls wait already.
        """
        if self._turns.locked() and self._waiting >= self._waiting_limit:
            raise OverloadedError("the tool server has more calls waiting than it accepts")
        self._waiting += 1
        try:
            await self._turns.acquire()
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._turns.release()
