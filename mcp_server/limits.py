"""Bounds on calls: so many a minute for each caller, so many at once, so many waiting."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from mcp_server.errors import OverloadedError, RateLimitedError

_MOST_CALLERS = 4096
_MINUTE_SECONDS = 60.0


@dataclass(slots=True)
class _Bucket:
    tokens: float
    filled_at: float


class RateLimit:
    """A token bucket for each caller; forgets the callers seen longest ago.

    Args:
        calls_per_minute: Calls a caller may make in a minute, and in one burst.
        clock: Returns monotonic time in seconds.
    """

    def __init__(
        self, calls_per_minute: int, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._capacity = float(calls_per_minute)
        self._clock = clock
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def spend(self, caller: str) -> None:
        """Count one call.

        Raises:
            RateLimitedError: The caller has none left.
        """
        now = self._clock()
        bucket = self._buckets.setdefault(caller, _Bucket(self._capacity, now))
        self._buckets.move_to_end(caller)
        gained = (now - bucket.filled_at) * self._capacity / _MINUTE_SECONDS
        bucket.tokens = min(self._capacity, bucket.tokens + gained)
        bucket.filled_at = now
        if len(self._buckets) > _MOST_CALLERS:
            self._buckets.popitem(last=False)
        if bucket.tokens < 1.0:
            raise RateLimitedError(f"more than {self._capacity:.0f} calls in a minute")
        bucket.tokens -= 1.0


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
