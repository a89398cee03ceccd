"""Where a process that works off a queue gets its next item from: a database, or a broker.

Rows in the database are the queue either way. What takes an item, works on it and keeps the result
is the same code whether the row was found by looking or named by a message.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Delivery(Generic[T_co]):
    """An item, and what to call once its result is durable."""

    claim: T_co
    acknowledge: Callable[[], Awaitable[None]]


class Inbox(Protocol[T_co]):
    """Where items come from."""

    async def next(self) -> Delivery[T_co]:
        """Wait for an item."""
        ...


class PolledInbox(Generic[T]):
    """Looks for an item now and then.

    Args:
        claim: Takes the next item that is due; None when there is none.
        poll_seconds: How often to look while there is none.
        woken: Set by whoever adds an item in this process, so that it is looked for at once.
    """

    def __init__(
        self,
        claim: Callable[[], Awaitable[T | None]],
        *,
        poll_seconds: float,
        woken: asyncio.Event | None = None,
    ) -> None:
        self._claim = claim
        self._poll_seconds = poll_seconds
        self._woken = woken or asyncio.Event()

    async def next(self) -> Delivery[T]:
        """Wait for an item."""
        while True:
            self._woken.clear()
            claim = await self._claim()
            if claim is not None:
                # Another taker of this inbox may be asleep beside further items.
                self._woken.set()
                return Delivery(claim, _nothing)
            await pause(self._woken, self._poll_seconds)


async def pause(woken: asyncio.Event, seconds: float) -> None:
    """Wait so long, or until woken."""
    # Not ``wait_for``: on Python 3.11 that loses a cancellation which comes with the event.
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await woken.wait()


async def _nothing() -> None:
    """Keep quiet: the database knows already."""
