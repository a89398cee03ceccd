"""Rates as arithmetic, in one process and in Redis."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.circuit import Circuit
from service.limiter import LimiterDownError, LocalLimiter, SharedLimiter
from service.limiter_redis import RedisLimiter
from service.rate import Rate, arrive
from tests.services import require_port

URL = os.environ.get("VOUCH_TEST_REDIS_URL", "redis://127.0.0.1:6379/15")


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


async def test_a_burst_passes_and_then_one_at_a_time() -> None:
    clock = Clock()
    limiter, rate = LocalLimiter(clock=clock), Rate(3, 60)
    standings = [await limiter.arrive("a", rate) for _ in range(4)]
    assert [one.is_allowed for one in standings] == [True, True, True, False]
    assert [one.remaining for one in standings] == [2, 1, 0, 0]
    assert standings[3].retry_after_seconds == pytest.approx(20)
    clock.now += 20
    assert (await limiter.arrive("a", rate)).is_allowed
    assert not (await limiter.arrive("a", rate)).is_allowed
    assert (await limiter.arrive("b", rate)).is_allowed


@given(
    st.integers(1, 50),
    st.floats(1, 3600),
    st.lists(st.floats(0, 200), min_size=1, max_size=200),
)
def test_no_window_ever_holds_more_than_the_rate_and_a_burst(
    count: int, period: float, gaps: list[float]
) -> None:
    rate, now, paid = Rate(count, period), 0.0, 0.0
    passed: list[float] = []
    for gap in gaps:
        now += gap
        paid, standing = arrive(paid, now, rate)
        if standing.is_allowed:
            passed.append(now)
        else:
            # Whoever waits as told is served.
            assert arrive(paid, now + standing.retry_after_seconds, rate)[1].is_allowed
    for start in passed:
        assert sum(start <= at < start + period for at in passed) <= 2 * count


@pytest.fixture
async def redis() -> AsyncIterator[RedisLimiter]:
    require_port(6379, "Redis on loopback")
    limiter = RedisLimiter(URL, deadline_seconds=5.0)
    yield limiter
    await limiter.close()


async def test_redis_counts_as_this_process_does(redis: RedisLimiter) -> None:
    key, rate = uuid.uuid4().hex, Rate(3, 3600)
    standings = [await redis.arrive(key, rate) for _ in range(4)]
    assert [one.is_allowed for one in standings] == [True, True, True, False]
    assert [one.remaining for one in standings] == [2, 1, 0, 0]
    assert standings[3].retry_after_seconds == pytest.approx(1200, rel=0.1)
    assert all(one.is_shared for one in standings)


async def test_callers_at_once_through_two_processes_share_one_number(redis: RedisLimiter) -> None:
    key, rate, other = uuid.uuid4().hex, Rate(10, 3600), RedisLimiter(URL, deadline_seconds=5.0)
    limiters = [redis, other] * 6
    standings = await asyncio.gather(*(one.arrive(key, rate) for one in limiters))
    await other.close()
    assert sum(one.is_allowed for one in standings) == 10


async def test_a_redis_that_is_down_is_left_alone_and_the_limits_hold_here() -> None:
    circuit = Circuit("redis", failures=1)
    gone = RedisLimiter("redis://127.0.0.1:9/0")
    with pytest.raises(LimiterDownError):
        await gone.arrive("a", Rate(1))
    limiter = SharedLimiter(gone, LocalLimiter(), circuit)
    rate = Rate(1, 3600)
    assert [(await limiter.arrive("a", rate)).is_allowed for _ in range(2)] == [True, False]
    assert circuit.state == "open"
    await limiter.close()


async def test_a_redis_that_hangs_is_given_up_within_its_deadline() -> None:
    released = asyncio.Event()

    async def hang(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await released.wait()
        writer.close()

    server = await asyncio.start_server(hang, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    limiter = RedisLimiter(f"redis://127.0.0.1:{port}/0", deadline_seconds=0.05)
    with pytest.raises(LimiterDownError):
        await limiter.arrive("a", Rate(1))
    released.set()
    await limiter.close()
    server.close()


async def test_a_redis_that_answers_garbage_is_down() -> None:
    async def babble(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.0 200 OK\r\n\r\nhello")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(babble, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    limiter = RedisLimiter(f"redis://127.0.0.1:{port}/0", deadline_seconds=5.0)
    with pytest.raises(LimiterDownError):
        await limiter.arrive("a", Rate(1))
    await limiter.close()
    server.close()
