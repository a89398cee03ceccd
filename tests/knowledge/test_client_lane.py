"""The plain connection against servers that behave, and servers that do not."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx
import pytest
import uvloop

from knowledge.client_lane import KEEP_IDLE_SECONDS, PlainLane


@dataclass
class Peer:
    """A server that sends what it is told to, one script entry a request; None cuts the line."""

    script: list[bytes | None]
    requests: list[bytes] = field(default_factory=list[bytes])
    connections: int = 0
    port: int = 0
    asked: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                self.requests.append(head + await reader.readexactly(length))
                self.asked.set()
                reply = self.script.pop(0)
                if reply is None:
                    writer.transport.abort()
                    return
                writer.write(reply)
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def peer(*script: bytes | None) -> AsyncGenerator[Peer]:
    made = Peer(list(script))
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    async with server:
        yield made


def no_secure() -> httpx.AsyncBaseTransport:
    raise AssertionError("no certificate is needed")


def post(port: int, body: bytes = b"{}") -> httpx.Request:
    url = f"http://127.0.0.1:{port}/mcp?x=1"
    return httpx.Request(
        "POST", url, content=body, extensions={"timeout": {"connect": 1.0, "read": None}}
    )


def ok(body: bytes, *headers: str) -> bytes:
    lines = [f"content-length: {len(body)}", *headers]
    return b"HTTP/1.1 200 OK\r\n" + "\r\n".join(lines).encode() + b"\r\n\r\n" + body


async def test_one_connection_serves_call_after_call() -> None:
    async with peer(ok(b"one", "x-a: b"), ok(b"two")) as server:
        lane = PlainLane(no_secure)
        first = await lane.handle_async_request(post(server.port, b'{"a": 1}'))
        second = await lane.handle_async_request(post(server.port))
        await lane.aclose()
    assert (first.status_code, first.content, first.headers["x-a"]) == (200, b"one", "b")
    assert second.content == b"two"
    assert server.connections == 1
    assert server.requests[0].startswith(b"POST /mcp?x=1 HTTP/1.1\r\nHost: 127.0.0.1:")
    assert server.requests[0].endswith(b'\r\n\r\n{"a": 1}')


def test_another_event_loop_serves_as_well() -> None:
    # The API runs on uvloop, whose transports are no asyncio.Transport.
    async def call() -> bytes:
        async with peer(ok(b"one")) as server:
            lane = PlainLane(no_secure)
            response = await lane.handle_async_request(post(server.port))
            await lane.aclose()
            return response.content

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(call()) == b"one"


async def test_a_response_in_pieces_is_put_together() -> None:
    chunked = (
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    )
    async with peer(chunked) as server:
        lane = PlainLane(no_secure)
        assert (await lane.handle_async_request(post(server.port))).content == b"abcde"
        await lane.aclose()


async def test_an_encoded_body_is_decoded_and_a_broken_one_named() -> None:
    packed = ok(gzip.compress(b"words"), "content-encoding: gzip")
    broken = ok(b"words", "content-encoding: gzip")
    async with peer(packed, broken) as server:
        lane = PlainLane(no_secure)
        assert (await lane.handle_async_request(post(server.port))).content == b"words"
        with pytest.raises(httpx.DecodingError):
            await lane.handle_async_request(post(server.port))
        await lane.aclose()


async def test_an_error_status_is_a_response_like_any_other() -> None:
    async with peer(
        b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\nconnection: close\r\n\r\n", ok(b"")
    ) as s:
        lane = PlainLane(no_secure)
        assert (await lane.handle_async_request(post(s.port))).status_code == 503
        # The server closed after it; the next call opens another connection by itself.
        assert (await lane.handle_async_request(post(s.port))).status_code == 200
        await lane.aclose()
    assert s.connections == 2


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        ([None], httpx.ReadError),
        ([b"SSH-2.0-server\r\n\r\n"], httpx.RemoteProtocolError),
    ],
    ids=["cut", "another protocol"],
)
async def test_a_broken_exchange_is_a_transport_error(
    script: Sequence[bytes | None], kind: type[httpx.TransportError]
) -> None:
    async with peer(*script) as server:
        lane = PlainLane(no_secure)
        with pytest.raises(kind):
            await lane.handle_async_request(post(server.port))
        await lane.aclose()


async def test_a_refused_connection_is_a_connect_error() -> None:
    async with peer() as server:
        port = server.port
    with pytest.raises(httpx.ConnectError):
        await PlainLane(no_secure).handle_async_request(post(port))


async def test_a_connection_idle_for_long_is_not_trusted() -> None:
    now = [0.0]
    async with peer(ok(b""), ok(b"")) as server:
        lane = PlainLane(no_secure, clock=lambda: now[0])
        await lane.handle_async_request(post(server.port))
        now[0] += KEEP_IDLE_SECONDS + 1
        await lane.handle_async_request(post(server.port))
        await lane.aclose()
    assert server.connections == 2


async def test_closing_ends_the_call_that_waits() -> None:
    async with peer(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf") as server:
        lane = PlainLane(no_secure)
        call = asyncio.create_task(lane.handle_async_request(post(server.port)))
        await server.asked.wait()
        await lane.aclose()
        with pytest.raises(httpx.ReadError):
            await call


async def test_a_secure_address_goes_through_the_library() -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        return httpx.Response(200, content=b"safe")

    lane = PlainLane(lambda: httpx.MockTransport(answer))
    request = httpx.Request("POST", "https://tools.test/mcp", content=b"{}")
    assert (await lane.handle_async_request(request)).content == b"safe"
    assert asked == ["https://tools.test/mcp"]
    await lane.aclose()
