"""The edge for other agents, in front of a real tool server and of none."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from knowledge.errors import KnowledgeTimeoutError, KnowledgeUnavailableError
from knowledge.forward import Forwarder
from service.tokens import Claims, TokenSigner
from tests.backend.conftest import Connect
from tests.backend.fakes import FakeAgent, FakeKnowledge, says
from tests.mcp_server.raw import modern_body
from tests.mcp_server.serving import KEY, serve

CLAIMS = Claims(ask_id="", branch="direct", scopes=("context",), subject="anonymous")


Edge = Callable[[str], Awaitable[httpx.AsyncClient]]


@pytest.fixture
def edge(connect: Connect) -> Edge:
    async def make(mcp_url: str) -> httpx.AsyncClient:
        return await connect(
            FakeKnowledge(), FakeAgent(says("")), mcp_url=mcp_url, signing_key=SecretStr(KEY)
        )

    return make


async def test_a_context_call_reaches_the_tool_server_in_the_callers_name(
    tmp_path: Path, edge: Edge
) -> None:
    async with serve(data_dir=tmp_path) as server:
        client = await edge(server.url + "/mcp")
        answer = await client.post("/api/v1/context/deduplicate", json={"texts": ["a", "A"]})
        refused = await client.post("/api/v1/context/deduplicate", json={"threshold": 5})

    assert answer.status_code == 200
    assert answer.json()["selected"] == ["a"]
    assert refused.status_code == 422
    assert refused.json()["code"] == "bad_input"
    assert {row.caller for row in server.sink.stored} == {"signed:anonymous"}


@pytest.mark.parametrize(
    ("path", "tool", "arguments"),
    [
        ("/mcp", "search_kb", {"query": "limit"}),
        ("/mcp/context", "deduplicate", {"texts": ["a"]}),
    ],
)
async def test_an_mcp_call_gets_one_json_reply(
    tmp_path: Path, edge: Edge, path: str, tool: str, arguments: dict[str, object]
) -> None:
    headers = {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": tool,
        "accept": "application/json",
    }
    body = modern_body("tools/call", {"name": tool, "arguments": arguments})  # type: ignore[dict-item]
    async with serve(data_dir=tmp_path) as server:
        client = await edge(server.url)
        answer = await client.post(path, headers=headers, json=body)

    assert answer.headers["content-type"] == "application/json"
    assert "structuredContent" in answer.json()["result"]


async def test_without_a_tool_server_the_edge_says_so(edge: Edge, free_port: int) -> None:
    client = await edge(f"http://127.0.0.1:{free_port}")
    answer = await client.post("/api/v1/context/deduplicate", json={})

    assert answer.status_code == 503
    assert answer.headers["content-type"] == "application/problem+json"
    assert "tool server is away" in answer.json()["detail"]


async def test_only_named_headers_go_on_and_the_token_is_exchanged() -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={}, headers={"set-cookie": "a=b", "x-inner": "1"})

    signer = TokenSigner(KEY)
    given = httpx.Headers(
        {
            "Authorization": "Bearer the-callers-own",
            "Cookie": "session=1",
            "Accept": "text/html",
            "Connection": "x-hop",
            "X-Hop": "1",
            "X-Forwarded-For": "10.0.0.1",
            "X-Vouch-Trace-Id": "run-7",
        }
    )
    transport = httpx.MockTransport(answer)
    async with Forwarder(
        "http://tools:8001/mcp", signer, timeout_seconds=5, transport=transport, clock=lambda: 100.0
    ) as forwarder:
        reply = await forwarder.post("/api/v1/context/forget", b"{}", given, CLAIMS)

    (request,) = seen
    assert str(request.url) == "http://tools:8001/api/v1/context/forget"
    for name in ("cookie", "x-hop", "x-forwarded-for"):
        assert name not in request.headers
    assert request.headers["x-vouch-agent-platform"] == "unknown"
    assert request.headers["x-vouch-trace-id"] == "run-7"
    assert request.headers["accept"] == "application/json, text/event-stream"
    claims = signer.verify(request.headers["authorization"].removeprefix("Bearer "), now=100.0)
    assert claims.scopes == ("context",)
    assert claims.subject == "anonymous"
    assert claims.expires_at == 160.0
    assert reply.headers == {}


async def test_the_platform_label_is_passed_on() -> None:
    seen: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers["x-vouch-agent-platform"])
        return httpx.Response(200, json={})

    async with Forwarder(
        "http://tools", TokenSigner(KEY), timeout_seconds=5, transport=httpx.MockTransport(answer)
    ) as forwarder:
        await forwarder.post("/mcp", b"{}", {"x-vouch-agent-platform": "editor"}, CLAIMS)

    assert seen == ["editor"]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (httpx.Response(401), KnowledgeUnavailableError),
        (httpx.Response(403), KnowledgeUnavailableError),
        (
            httpx.Response(200, headers={"content-type": "text/event-stream"}, text=": ping\n\n"),
            KnowledgeUnavailableError,
        ),
        (httpx.ReadTimeout("late"), KnowledgeTimeoutError),
        (httpx.RemoteProtocolError("cut"), KnowledgeUnavailableError),
    ],
)
async def test_a_tool_server_that_cannot_answer_is_a_typed_error(
    reply: httpx.Response | httpx.HTTPError, expected: type[Exception]
) -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        if isinstance(reply, httpx.HTTPError):
            raise reply
        return reply

    async with Forwarder(
        "http://tools", TokenSigner(KEY), timeout_seconds=5, transport=httpx.MockTransport(answer)
    ) as forwarder:
        with pytest.raises(expected):
            await forwarder.post("/mcp", b"{}", {}, CLAIMS)


async def test_of_a_stream_the_answer_is_taken_and_notices_are_not() -> None:
    events = [{"method": "notifications/message"}, {"id": 7, "result": {"ok": True}}]
    text = "".join(f"event: message\ndata: {json.dumps(event)}\n\n" for event in events)

    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, text=text)

    async with Forwarder(
        "http://tools", TokenSigner(KEY), timeout_seconds=5, transport=httpx.MockTransport(answer)
    ) as forwarder:
        reply = await forwarder.post("/mcp", b"{}", {}, CLAIMS)

    assert json.loads(reply.body) == events[1]
