"""Bounds on calls."""

from __future__ import annotations

import asyncio

import pytest

from knowledge.errors import KnowledgeLimitedError, KnowledgeUnavailableError
from mcp_server.errors import OverloadedError, RateLimitedError
from mcp_server.limits import RateLimit, Turnstile
from service.limiter import LocalLimiter
from tests.mcp_server.fakes import FakeEngine, FakeOpener
from tests.mcp_server.raw import call_modern, result_of
from tests.mcp_server.serving import claims, connect, serve


async def test_a_caller_over_its_rate_is_told_when_to_come_back() -> None:
    now = [0.0]
    rate = RateLimit(2, limiter=LocalLimiter(clock=lambda: now[0]))
    await rate.spend("a")
    await rate.spend("a")
    with pytest.raises(RateLimitedError) as refused:
        await rate.spend("a")
    assert refused.value.retry_after_seconds == 30
    await rate.spend("b")
    now[0] = 30.0
    await rate.spend("a")
    with pytest.raises(RateLimitedError):
        await rate.spend("a")


async def test_a_rest_gives_back_one_minutes_calls_and_no_more() -> None:
    now = [0.0]
    rate = RateLimit(2, limiter=LocalLimiter(clock=lambda: now[0]))
    await rate.spend("a")
    now[0] = 3600.0
    await rate.spend("a")
    await rate.spend("a")
    with pytest.raises(RateLimitedError):
        await rate.spend("a")


async def test_the_turnstile_lets_some_run_some_wait_and_refuses_the_rest() -> None:
    turnstile = Turnstile(running=1, waiting=1)
    hold, entered = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        async with turnstile.turn():
            entered.set()
            await hold.wait()

    running, waiting = asyncio.create_task(work()), asyncio.create_task(work())
    await entered.wait()
    await asyncio.sleep(0)
    with pytest.raises(OverloadedError):
        async with turnstile.turn():
            pass
    hold.set()
    await asyncio.gather(running, waiting)
    async with turnstile.turn():
        pass


async def test_one_ask_over_its_rate_does_not_slow_another() -> None:
    async with serve(mcp_calls_per_minute=2) as running, connect(running.url) as client:
        first = client.bind(claims(ask_id="one"))
        await first.search_kb("limit", 1)
        await first.search_kb("limit", 1)
        with pytest.raises(KnowledgeLimitedError) as refused:
            await first.search_kb("limit", 1)
        await client.bind(claims(ask_id="two")).search_kb("limit", 1)
    assert refused.value.retry_after_seconds == 30


async def test_the_apis_own_calls_outside_an_ask_are_not_counted() -> None:
    async with serve(mcp_calls_per_minute=1) as running, connect(running.url) as client:
        direct = client.bind(claims("direct", ask_id=""))
        for _ in range(3):
            await direct.search_kb("limit", 1)
        for _ in range(3):
            await client.read_audit("ask-1")


async def test_a_fixed_token_is_counted_by_its_name() -> None:
    async with serve(mcp_calls_per_minute=1) as running:
        first = await call_modern(running.url, "search_kb", {"query": "limit"})
        second = await call_modern(running.url, "search_kb", {"query": "limit"})
    assert result_of(first).get("isError") is not True
    assert "rate_limited" in str(result_of(second)["content"])


async def test_more_calls_than_may_wait_are_refused_at_once() -> None:
    engine = FakeEngine()
    engine.release.clear()
    async with (
        serve(opener=FakeOpener(engine), mcp_concurrent_calls=1, mcp_waiting_calls=0) as running,
        connect(running.url) as client,
    ):
        tools = client.bind(claims())
        held = asyncio.create_task(tools.search_kb("limit", 1))
        await engine.entered.wait()
        with pytest.raises(KnowledgeUnavailableError):
            await tools.search_kb("limit", 1)
        engine.release.set()
        await held


async def test_a_call_over_its_deadline_is_refused_and_its_turn_is_free_again() -> None:
    engine = FakeEngine()
    engine.release.clear()
    async with (
        serve(
            opener=FakeOpener(engine), mcp_call_timeout_seconds=0.05, mcp_concurrent_calls=1
        ) as running,
        connect(running.url) as client,
    ):
        tools = client.bind(claims())
        with pytest.raises(KnowledgeUnavailableError):
            await tools.search_kb("limit", 1)
        engine.release.set()
        assert len((await tools.search_kb("limit", 1)).hits) == 1
