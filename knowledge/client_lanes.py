"""Connections to the tool server, each used by one call at a time.

The pool of ``httpx`` may give one idle connection to several waiting requests, of which all but one
start over: with 32 callers on a busy machine that cost three times the CPU of a call and let single
calls starve for seconds. Here a call takes a connection, keeps it to itself, and puts it back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import cache
from ssl import SSLContext

import httpx

from knowledge.client_lane import KEEP_IDLE_SECONDS, PlainLane

LaneOpener = Callable[[], httpx.AsyncBaseTransport]


def open_lanes() -> LaneOpener:
    """Return what opens a lane of one connection; they share what verifying a certificate needs."""
    limits = httpx.Limits(
        max_connections=1, max_keepalive_connections=1, keepalive_expiry=KEEP_IDLE_SECONDS
    )

    @cache
    def context() -> SSLContext:
        return httpx.create_ssl_context(trust_env=False)

    def secure() -> httpx.AsyncBaseTransport:
        return httpx.AsyncHTTPTransport(verify=context(), trust_env=False, limits=limits)

    return lambda: PlainLane(secure)


class Lanes:
    """Lends out connections, the one used last first.

    The transports are used without the client around them, whose cookies, redirects and hooks cost
    a fifth of a call.

    Args:
        opener: Opens a lane.
        limit: Calls under way at the same time; further ones wait in order.
    """

    def __init__(self, opener: LaneOpener, *, limit: int) -> None:
        self._open = opener
        self._turns = asyncio.Semaphore(limit)
        self._idle: list[httpx.AsyncBaseTransport] = []
        self._is_closed = False

    async def exchange(self, request: httpx.Request) -> httpx.Response:
        """Send a request and read the whole response.

        Raises:
            httpx.RequestError: The exchange failed; its lane is not used again.
        """
        async with self._turns:
            lane = self._idle.pop() if self._idle else self._open()
            is_whole = False
            try:
                response = await lane.handle_async_request(request)
                await response.aread()
                await response.aclose()
                is_whole = True
            finally:
                if is_whole and not self._is_closed:
                    self._idle.append(lane)
                else:
                    await lane.aclose()
            return response

    async def close_idle(self) -> None:
        """Close every connection that no call is using."""
        idle, self._idle = self._idle, []
        for lane in idle:
            await lane.aclose()

    async def close(self) -> None:
        """Close every connection, those in use as soon as their call is over."""
        self._is_closed = True
        await self.close_idle()
