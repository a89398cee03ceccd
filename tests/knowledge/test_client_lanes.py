"""Connections that each belong to one call at a time."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import httpx
import pytest

from knowledge.client_lanes import Lanes

REQUEST = httpx.Request("GET", "http://mcp.test/")


@dataclass
class Lane(httpx.AsyncBaseTransport):
    """A connection that waits to be let go, and knows whether it is used twice at once."""

    go: asyncio.Event
    error: Exception | None = None
    busy: bool = False
    closed: bool = False
    served: int = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        assert not self.busy
        self.busy = True
        try:
            await self.go.wait()
            if self.error is not None:
                raise self.error
            self.served += 1
            return httpx.Response(200, content=b"ok")
        finally:
            self.busy = False

    async def aclose(self) -> None:
        self.closed = True


@dataclass
class Opener:
    """Opens lanes and keeps them."""

    go: asyncio.Event = field(default_factory=asyncio.Event)
    error: Exception | None = None
    lanes: list[Lane] = field(default_factory=list[Lane])

    def __call__(self) -> Lane:
        self.lanes.append(Lane(self.go, self.error))
        return self.lanes[-1]


async def test_one_call_after_another_uses_one_lane() -> None:
    opener = Opener()
    opener.go.set()
    lanes = Lanes(opener, limit=8)
    for _ in range(5):
        assert (await lanes.exchange(REQUEST)).content == b"ok"
    assert [lane.served for lane in opener.lanes] == [5]


async def test_calls_at_once_have_a_lane_each_up_to_the_limit() -> None:
    opener = Opener()
    lanes = Lanes(opener, limit=3)
    calls = [asyncio.create_task(lanes.exchange(REQUEST)) for _ in range(10)]
    await asyncio.sleep(0)
    opener.go.set()
    await asyncio.gather(*calls)
    assert len(opener.lanes) == 3
    assert sum(lane.served for lane in opener.lanes) == 10


async def test_a_lane_that_failed_is_closed_and_not_used_again() -> None:
    opener = Opener(error=httpx.ReadError("reset"))
    opener.go.set()
    lanes = Lanes(opener, limit=1)
    with pytest.raises(httpx.ReadError):
        await lanes.exchange(REQUEST)
    opener.error = None
    await lanes.exchange(REQUEST)
    assert [lane.closed for lane in opener.lanes] == [True, False]


async def test_a_call_that_is_given_up_frees_its_turn() -> None:
    opener = Opener()
    lanes = Lanes(opener, limit=1)
    call = asyncio.create_task(lanes.exchange(REQUEST))
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    opener.go.set()
    await lanes.exchange(REQUEST)
    assert [lane.closed for lane in opener.lanes] == [True, False]


async def test_idle_lanes_are_closed_with_the_client() -> None:
    opener = Opener()
    opener.go.set()
    lanes = Lanes(opener, limit=2)
    await lanes.exchange(REQUEST)
    await lanes.close()
    assert [lane.closed for lane in opener.lanes] == [True]


async def test_a_lane_in_use_is_closed_when_its_call_is_over() -> None:
    opener = Opener()
    lanes = Lanes(opener, limit=2)
    call = asyncio.create_task(lanes.exchange(REQUEST))
    await asyncio.sleep(0)
    await lanes.close()
    assert [lane.closed for lane in opener.lanes] == [False]
    opener.go.set()
    await call
    assert [lane.closed for lane in opener.lanes] == [True]
