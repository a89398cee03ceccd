"""What one ask costs, in counts that do not depend on the machine.

A second embedding, one more call of the tool server or one more statement slows every ask down and
fails no other test. Each number here is exact: fewer is a reason to lower it.
"""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
import uvicorn
from pydantic import SecretStr
from sqlalchemy import event
from sqlalchemy.engine import Connection, Engine
from starlette.types import ASGIApp, Receive, Scope, Send

from backend.app import create_app as create_api
from backend.settings import ApiSettings
from mcp_server.app import create_app as create_tool_server
from mcp_server.audit_sql import SqlAuditSink
from mcp_server.engine import Engine as SearchEngine
from storage import migrate
from storage.database import Database, database_url
from tests.mcp_server.serving import KEY
from tests.mcp_server.serving import settings as tool_settings
from tests.retrieval.fakes import real_tokenizer
from tests.retrieval.rig import QUERY, Rig, gateway_corpus

# The index in force is looked at every few seconds, whoever asks meanwhile.
_INDEX_LOOK = "measure_chunks"


@dataclass
class Counts:
    """What was done since the last ``clear``.

    Attributes:
        calls: Requests that reached the tool server, by the tool they name.
        statements: SQL statements, by database file and first words.
        sent_bytes: Bodies the tool server sent.
    """

    calls: Counter[str] = field(default_factory=Counter[str])
    statements: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    sent_bytes: int = 0

    def clear(self) -> None:
        self.calls.clear()
        self.statements.clear()
        self.sent_bytes = 0


@dataclass(frozen=True)
class Counted:
    """A whole system in one process, counted."""

    client: httpx.AsyncClient
    rig: Rig
    counts: Counts


class Counting:
    """Counts calls in front of the tool server."""

    def __init__(self, app: ASGIApp, counts: Counts) -> None:
        self._app = app
        self._counts = counts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = dict(scope["headers"])
            self._counts.calls[headers.get(b"mcp-name", b"").decode()] += 1

        async def counted(message: dict[str, object]) -> None:
            body = message.get("body", b"")
            assert isinstance(body, bytes)
            self._counts.sent_bytes += len(body)
            await send(message)

        await self._app(scope, receive, counted)  # pyright: ignore[reportArgumentType] - a message is a dictionary


@contextmanager
def counted_statements(counts: Counts) -> Generator[None]:
    def note(connection: Connection, _cursor: object, statement: str, *_: object) -> None:
        if statement.startswith("BEGIN"):
            return
        name = Path(connection.engine.url.database or "").stem
        counts.statements[name, " ".join(statement.split()[:3])] += 1

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield
    finally:
        event.remove(Engine, "before_cursor_execute", note)


@asynccontextmanager
async def served(app: ASGIApp) -> AsyncGenerator[str]:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(
        uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=1)
    )
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        while not server.started:
            if task.done():
                task.result()
            await asyncio.sleep(0.005)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task


@pytest.fixture
async def counted(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Counted]:
    for name in ("vouch", "audit"):
        migrate.upgrade(database_url("", tmp_path, name))
    rig = Rig(tmp_path, real_tokenizer(tmp_path_factory.mktemp("models")))
    await rig.publish(gateway_corpus())
    counts = Counts()
    audit = Database(database_url("", tmp_path, "audit"))

    async def opener() -> SearchEngine:
        await rig.engine.refresh()
        return rig.engine

    tools = create_tool_server(tool_settings(), opener=opener, sink=SqlAuditSink(audit))
    with counted_statements(counts):
        async with served(Counting(tools, counts)) as url:
            api = create_api(
                ApiSettings(data_dir=tmp_path, mcp_url=url, signing_key=SecretStr(KEY))
            )
            transport = httpx.ASGITransport(api)
            async with (
                api.router.lifespan_context(api),
                httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client,
            ):
                yield Counted(client, rig, counts)
    await audit.close()


async def ask(counted: Counted, question: str = QUERY) -> httpx.Response:
    response = await counted.client.post("/ask", json={"question": question})
    assert response.status_code == 200, response.text
    return response


async def test_an_ask_costs_one_embedding_and_three_calls(counted: Counted) -> None:
    # The first ask also lists the tools, looks at the index in force and at the calibration.
    await ask(counted, "What is a slow upstream?")
    await asyncio.sleep(0)
    counted.counts.clear()
    counted.rig.embedder.queries.clear()

    response = await ask(counted)

    assert response.json()["status"] == "answered"
    assert counted.rig.embedder.queries == {QUERY: 1}
    calls = {tool: n for tool, n in counted.counts.calls.items() if tool != _INDEX_LOOK}
    assert calls == {"search_kb": 2, "read_audit": 1}


async def test_an_ask_costs_one_statement_of_its_own(counted: Counted) -> None:
    await ask(counted)
    seen: list[dict[str, int]] = []
    for _ in range(3):
        counted.counts.clear()
        await ask(counted)
        of_asks = counted.counts.statements.items()
        seen.append({words: n for (file, words), n in of_asks if file == "vouch"})
    # What is looked at every few seconds may fall into one of them on a busy machine.
    assert min(seen, key=lambda each: sum(each.values())) == {"INSERT INTO asks": 1}


async def test_an_ask_that_is_asked_again_embeds_nothing(counted: Counted) -> None:
    await ask(counted)
    counted.rig.embedder.queries.clear()
    await ask(counted)
    assert not counted.rig.embedder.queries


async def test_a_refused_ask_reads_no_audit(counted: Counted) -> None:
    await ask(counted)
    counted.counts.clear()
    response = await ask(counted, "Who baked the bread of the harbour?")
    assert response.json()["status"] == "abstained"
    assert counted.counts.calls["search_kb"] <= 2
    assert "read_audit" not in counted.counts.calls


async def test_what_travels_is_bounded_by_the_passages_it_carries(counted: Counted) -> None:
    await ask(counted)
    counted.counts.clear()
    response = await ask(counted)
    passages = sum(len(chunk["text"]) for chunk in response.json()["retrieved_chunks"])
    # Two searches of four hits and the audit; and one response. Twice as much is an accident.
    assert counted.counts.sent_bytes < 17_000 + 4 * passages
    assert len(response.content) < 9_000 + 4 * passages
