"""The server lives without an index, says so, and heals by itself."""

from __future__ import annotations

import httpx
import pytest

from knowledge.errors import KnowledgeUnavailableError
from mcp_server.index_keeper import IndexKeeper
from retrieval.errors import BuildMismatchError, IndexUnavailableError
from tests.mcp_server.fakes import FakeEngine, FakeOpener
from tests.mcp_server.serving import claims, connect, serve


async def test_without_a_build_calls_are_refused_and_the_first_build_heals_them() -> None:
    opener = FakeOpener()
    async with serve(opener=opener) as running, connect(running.url) as client:
        tools = client.bind(claims())
        with pytest.raises(KnowledgeUnavailableError, match="no build is published"):
            await tools.search_kb("limit", 1)
        async with httpx.AsyncClient(trust_env=False) as http:
            before = (await http.get(f"{running.url}/healthz")).json()
            opener.engine = FakeEngine()
            await opener.engine.refreshed.wait()
            after = (await http.get(f"{running.url}/healthz")).json()
        found = await tools.search_kb("limit", 1)
    assert before["checks"]["index"]["status"] == "down"
    assert "no build is published" in before["checks"]["index"]["detail"]
    assert after["status"] == "ok"
    assert len(found.hits) == 1


async def test_a_new_build_is_followed_while_it_is_served() -> None:
    async with serve() as running, connect(running.url) as client:
        tools = client.bind(claims())
        before = await tools.search_kb("limit", 1)
        running.engine.published = "20261130T000000-bbbbbb"
        running.engine.refreshed.clear()
        await running.engine.refreshed.wait()
        after = await tools.search_kb("limit", 1)
    assert before.index.build == "20261129T000000-aaaaaa"
    assert after.index.build == "20261130T000000-bbbbbb"
    assert client.index() == after.index


async def test_a_build_that_cannot_be_served_leaves_the_old_one_in_force() -> None:
    engine = FakeEngine()
    keeper = IndexKeeper(FakeOpener(engine), poll_seconds=1)
    await keeper.poll()
    engine.trouble = BuildMismatchError("made with another model")
    await keeper.poll()
    assert keeper.engine() is engine
    assert keeper.health().status == "degraded"
    assert keeper.health().detail == "made with another model"


async def test_an_index_that_crashes_does_not_end_the_keeper() -> None:
    async def broken() -> FakeEngine:
        raise OSError("no such device")

    keeper = IndexKeeper(broken, poll_seconds=1)
    await keeper.poll()
    with pytest.raises(IndexUnavailableError):
        keeper.engine()
    assert "no such device" not in keeper.health().detail


async def test_the_engine_is_closed_when_the_server_stops() -> None:
    async with serve() as running:
        pass
    assert running.engine.closed
