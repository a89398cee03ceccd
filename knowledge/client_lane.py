"""One plain connection to the tool server, for one call at a time.

A call is one small request and one JSON response between two processes of one installation. Over
the general library it cost 0.8 ms of processor time, most of it in an HTTP parser written in
Python; here the parser that the server itself uses reads the response, at a third of that.
Addresses with ``https`` go through the library, which knows certificates.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import cast

import httptools
import httpx

# Shorter than the server keeps an idle connection, so that the client is the one who closes it.
KEEP_IDLE_SECONDS = 30.0
_LOST = "the connection was lost"


class PlainLane(httpx.AsyncBaseTransport):
    """A connection that opens itself when it is needed.

    Args:
        secure: Opens what serves ``https`` addresses, when the first one comes.
        clock: Returns monotonic seconds.
    """

    def __init__(
        self,
        secure: Callable[[], httpx.AsyncBaseTransport],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._open_secure = secure
        self._clock = clock
        self._secure: httpx.AsyncBaseTransport | None = None
        self._wire: _Wire | None = None
        self._used_at = 0.0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request and return the whole response.

        Raises:
            httpx.TransportError: The exchange failed; the lane must not be used again.
        """
        if request.url.scheme != "http":
            self._secure = self._secure or self._open_secure()
            return await self._secure.handle_async_request(request)
        wire = self._wire
        is_stale = self._clock() - self._used_at > KEEP_IDLE_SECONDS
        if wire is None or wire.is_closed or is_stale:
            await self.aclose()
            wire = self._wire = await _connect(request)
        response = await wire.exchange(request)
        self._used_at = self._clock()
        return response

    async def aclose(self) -> None:
        """Close the connection."""
        wire, self._wire = self._wire, None
        if wire is not None:
            wire.close()
        secure, self._secure = self._secure, None
        if secure is not None:
            await secure.aclose()


async def _connect(request: httpx.Request) -> _Wire:
    limits: dict[str, float | None] = request.extensions.get("timeout", {})
    try:
        async with asyncio.timeout(limits.get("connect")):
            _, wire = await asyncio.get_running_loop().create_connection(
                _Wire, request.url.host, request.url.port or 80
            )
    except TimeoutError as error:
        raise httpx.ConnectTimeout("no connection in time", request=request) from error
    except OSError as error:
        raise httpx.ConnectError(str(error), request=request) from error
    return wire


class _Wire(asyncio.Protocol):
    """Both directions of one connection; the parser calls the ``on_`` methods."""

    def __init__(self) -> None:
        self.is_closed = False
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._done: asyncio.Future[None] | None = None
        self._headers: list[tuple[bytes, bytes]] = []
        self._body: list[bytes] = []
        self._stays = False

    async def exchange(self, request: httpx.Request) -> httpx.Response:
        """Send a request and return the whole response."""
        if self._transport is None or self.is_closed:
            raise httpx.WriteError(_LOST, request=request)
        self._parser = httptools.HttpResponseParser(self)
        self._headers, self._body = [], []
        self._done = asyncio.get_running_loop().create_future()
        self._transport.write(_bytes_of(request))
        try:
            await self._done
        except ConnectionError as error:
            raise httpx.ReadError(_LOST, request=request) from error
        except httptools.HttpParserError as error:
            raise httpx.RemoteProtocolError("this is no HTTP response", request=request) from error
        if not self._stays:
            self.close()
        return httpx.Response(
            self._parser.get_status_code(),
            headers=self._headers,
            content=b"".join(self._body),
            request=request,
        )

    def close(self) -> None:
        """Close the connection; a call that waits for it fails."""
        self.is_closed = True
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection over."""
        # Not asked for its class: another event loop has transports of its own.
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail the call that waits, if one does."""
        self.is_closed = True
        lost = ConnectionResetError(_LOST)
        lost.__cause__ = exc
        self._fail(lost)

    def data_received(self, data: bytes) -> None:
        """Let the parser read on."""
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._fail(error)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header."""
        self._headers.append((name, value))

    def on_body(self, body: bytes) -> None:
        """Keep a piece of the body."""
        self._body.append(body)

    def on_message_complete(self) -> None:
        """Let the call go on."""
        # The parser forgets what it read of the connection once this returns.
        self._stays = self._parser.should_keep_alive()
        if self._done is not None and not self._done.done():
            self._done.set_result(None)

    def _fail(self, error: Exception) -> None:
        if self._done is not None and not self._done.done():
            self._done.set_exception(error)


def _bytes_of(request: httpx.Request) -> bytes:
    lines = [b"%b: %b" % header for header in request.headers.raw]
    head = b"%b %b HTTP/1.1" % (request.method.encode(), request.url.raw_path)
    return b"\r\n".join((head, *lines, b"", request.content))
