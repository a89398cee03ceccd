"""The real process with the real engine: from an empty folder to answers, through its death."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path

import pytest

from ingestion.run import ingest
from ingestion.settings import IngestionSettings
from ingestion.sources import source_from
from knowledge.errors import KnowledgeTimeoutError, KnowledgeUnavailableError
from tests.environment import environment
from tests.ingestion.fakes import Recorder
from tests.mcp_server.process import ServerProcess
from tests.mcp_server.serving import claims, connect

GUIDE = """# Limits

## Requests

The gateway accepts forty requests a second from one address. Above that it answers 429.

## Uploads

An upload may hold at most ninety megabytes. Larger files are refused before they are read.
"""


@pytest.fixture
async def server(tmp_path: Path, free_port: int) -> AsyncIterator[ServerProcess]:
    process = ServerProcess(tmp_path / "data", free_port)
    await process.start()
    yield process
    await process.kill()


async def test_a_process_that_hangs_costs_its_callers_their_deadline_and_no_more(
    server: ServerProcess,
) -> None:
    async with connect(server.url, timeout_seconds=0.5) as client:
        await client.ping()
        server.pause()
        outcomes = await asyncio.gather(
            *(client.bind(claims()).search_kb("limit", 1) for _ in range(8)),
            return_exceptions=True,
        )
        server.resume()
        assert {type(outcome) for outcome in outcomes} == {KnowledgeTimeoutError}
    async with connect(server.url) as client:
        await client.ping()


async def ingest_guide(data_dir: Path, folder: Path, text: str = GUIDE) -> str:
    """Publish a build of one small document and return its name."""
    await asyncio.to_thread(_write, folder, text)
    with environment():
        settings = IngestionSettings(data_dir=data_dir)
    report = await ingest([source_from(str(folder))], settings, Recorder())
    return report.build


async def test_a_process_lives_through_everything_that_happens_to_it(
    server: ServerProcess, tmp_path: Path
) -> None:
    async with connect(server.url) as client:
        tools = client.bind(claims(ask_id="ask-1"))

        with pytest.raises(KnowledgeUnavailableError, match="no build is published"):
            await tools.search_kb("how many requests", 2)

        build = await ingest_guide(server.data_dir, tmp_path / "docs")
        await server.wait_for_index()
        found = await tools.search_kb("How many requests a second are accepted?", 2)
        assert found.index.build == build
        assert "forty requests" in found.hits[0].text
        source = await tools.get_source(found.hits[0].chunk_id)
        assert source.text == found.hits[0].text

        outcomes = await _call_through_a_death(server, client_calls=24)
        assert "down" in outcomes
        assert outcomes[-1] == "ok"

        again = await tools.search_kb("How many requests a second are accepted?", 2)
        assert [hit.chunk_id for hit in again.hits] == [hit.chunk_id for hit in found.hits]
        rows = (await client.read_audit("ask-1")).rows
        assert rows[0].error == "index_unavailable"
        assert rows[1].chunk_ids == tuple(hit.chunk_id for hit in found.hits)

    assert await server.stop() in {0, -signal.SIGTERM}
    assert "Application shutdown complete" in server.log
    assert "MCP Streamable HTTP at POST /mcp" in server.log
    assert "How many requests" not in server.log


def _write(folder: Path, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "guide.md").write_text(text)


async def _call_through_a_death(server: ServerProcess, *, client_calls: int) -> list[str]:
    """Kill and restart the server under concurrent calls on one client."""
    outcomes: list[str] = []
    answered, is_back = asyncio.Event(), asyncio.Event()

    async with connect(server.url) as client:
        tools = client.bind(claims(ask_id="ask-2"))

        async def keep_calling() -> None:
            for _ in range(client_calls):
                outcomes.append(await _outcome(tools.search_kb("uploads", 1)))
                if outcomes[-1] == "ok":
                    answered.set()
                else:
                    await is_back.wait()

        callers = [asyncio.create_task(keep_calling()) for _ in range(8)]
        await answered.wait()
        await server.kill()
        outcomes.append(await _outcome(tools.search_kb("uploads", 1)))
        await server.start()
        await server.wait_for_index()
        is_back.set()
        await asyncio.gather(*callers)
    return outcomes


async def _outcome(call: Awaitable[object]) -> str:
    try:
        await call
    except KnowledgeUnavailableError:
        return "down"
    return "ok"
