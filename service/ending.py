"""Ending tasks for sure."""

from __future__ import annotations

import asyncio

_AGAIN_SECONDS = 0.2


async def end_tasks(*tasks: asyncio.Task[None]) -> None:
    """Cancel tasks and return when they have ended, whatever they raise.

    On Python 3.11 ``asyncio.wait_for``, which the clients of brokers and databases use, loses a
    cancellation that comes at the moment its result does. So a task is cancelled until it ends.
    """
    waiting = set(tasks)
    while waiting:
        for task in waiting:
            task.cancel()
        _, waiting = await asyncio.wait(waiting, timeout=_AGAIN_SECONDS)
    await asyncio.gather(*tasks, return_exceptions=True)
