"""Waiting for what another process or task tells nobody but its database or broker."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Look again and again until it is so; the test's own deadline ends a wait for ever."""
    while True:
        if await condition():
            return
        await asyncio.sleep(0.02)
