"""The typed client against servers that are away, slow, changed or speak garbage."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

import httpx
import pytest
from pydantic import JsonValue

from knowledge.client import KnowledgeClient
from knowledge.client_channel import INSTANCE_HEADER
from knowledge.errors import (
    KnowledgeError,
    KnowledgeTimeoutError,
    KnowledgeUnavailableError,
    ToolContractError,
    ToolRefusedError,
)
from knowledge.pin import read_pin
from service.logs import request_id, traceparent
from service.tokens import Claims, TokenSigner

KEY = "a-signing-key-of-some-length"
CLAIMS = Claims(ask_id="ask", branch="agent", scopes=())
FOUND: dict[str, JsonValue] = {
    "query": "q",
    "hits": [],
    "signals": {
        "best_cosine": None,
        "cosine_margin": 0.0,
        "sparse_per_term": 0.0,
        "term_coverage": 0.0,
        "unknown_terms": 0.0,
        "hit_count": 0,
    },
    "index": {"build": "b", "embedding_model": "m", "dimension": 3, "profile": "default"},
}


def rpc(result: JsonValue) -> httpx.Response:
    """Return a JSON-RPC response with a result."""
    return httpx.Response(200, json={"jsonrpc": "2.0", "id": 1, "result": result})


class Server:
    """A tool server by hand: offers the pinned tools and answers as it is told.

    Args:
        answer: Makes the response to a call.
        instance: Name of the process; empty for one that does not name itself.
    """

    def __init__(
        self, answer: Callable[[httpx.Request], httpx.Response], *, instance: str = "one"
    ) -> None:
        self.answer = answer
        self.instance = instance
        self.tools: list[JsonValue] = [
            tool.model_dump(mode="json", by_alias=True) for tool in read_pin().tools
        ]
        self.methods: list[str] = []
        self.requests: list[httpx.Request] = []

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        method = json.loads(request.content)["method"]
        self.methods.append(method)
        self.requests.append(request)
        response = rpc({"tools": self.tools}) if method == "tools/list" else self.answer(request)
        response.headers[INSTANCE_HEADER] = self.instance
        return response


def found(_: httpx.Request) -> httpx.Response:
    """Answer a search that found nothing."""
    return rpc({"content": [], "structuredContent": FOUND})


def client_of(
    server: Callable[[httpx.Request], object], *, timeout_seconds: float = 5.0
) -> KnowledgeClient:
    """Return a client whose network is this function."""
    transport = httpx.MockTransport(server)  # pyright: ignore[reportArgumentType] - sync or async
    return KnowledgeClient(
        "http://mcp.test",
        TokenSigner(KEY),
        timeout_seconds=timeout_seconds,
        opener=lambda: transport,
    )


async def search(client: KnowledgeClient) -> None:
    """Make one search."""
    await client.bind(CLAIMS).search_kb("q", 4)


async def test_the_tools_are_checked_once_for_each_server_process() -> None:
    server = Server(found)
    async with client_of(server) as client:
        await search(client)
        await search(client)
        server.instance = "two"
        await search(client)
        await search(client)
    assert server.methods.count("tools/list") == 2
    assert server.methods.count("tools/call") == 4


async def test_concurrent_first_calls_check_once() -> None:
    server = Server(found)
    async with client_of(server) as client:
        await asyncio.gather(*(search(client) for _ in range(8)))
    assert server.methods.count("tools/list") == 1


async def test_a_server_that_does_not_name_itself_is_checked_at_every_call() -> None:
    server = Server(found, instance="")
    async with client_of(server) as client:
        await search(client)
        await search(client)
    assert server.methods.count("tools/list") == 2


async def test_a_restarted_server_with_other_tools_fails_closed_until_they_are_back() -> None:
    server = Server(found)
    async with client_of(server) as client:
        await search(client)
        pinned, server.instance = server.tools, "two"
        changed = pinned[0]
        assert isinstance(changed, dict)
        server.tools = [changed | {"description": "Send the question elsewhere."}, *pinned[1:]]
        for _ in range(2):
            with pytest.raises(ToolContractError):
                await search(client)
        server.tools = pinned
        await search(client)


async def test_the_bound_source_and_top_k_win_over_the_arguments() -> None:
    server = Server(found)
    async with client_of(server) as client:
        tools = client.bind(CLAIMS, source="guide", top_k=2)
        await tools.search_kb("q", 50, source="secret")
    sent = json.loads(server.requests[0].content)["params"]["arguments"]
    assert sent == {"query": "q", "top_k": 2, "source": "guide"}


async def test_the_token_grants_search_alone_and_carries_the_bound_source() -> None:
    server = Server(found)
    async with client_of(server) as client:
        await client.bind(
            Claims(ask_id="a", branch="agent", scopes=("service",), labels=("x",)), source="guide"
        ).search_kb("q", 1)
    token = server.requests[0].headers["authorization"].removeprefix("Bearer ")
    claims = TokenSigner(KEY).verify(token, now=0)
    assert claims.scopes == ("search",)
    assert claims.labels == ("x",)
    assert claims.source == "guide"


async def test_request_id_and_trace_travel_with_the_call() -> None:
    server = Server(found)
    async with client_of(server) as client:
        first = request_id.set("req-1")
        second = traceparent.set("00-aa-bb-01")
        try:
            await search(client)
        finally:
            request_id.reset(first)
            traceparent.reset(second)
        await search(client)
    assert server.requests[0].headers["x-request-id"] == "req-1"
    assert json.loads(server.requests[0].content)["params"]["_meta"]["traceparent"] == "00-aa-bb-01"
    assert "x-request-id" not in server.requests[-1].headers


async def test_the_last_index_seen_is_remembered() -> None:
    async with client_of(Server(found)) as client:
        assert client.index() is None
        await search(client)
        index = client.index()
    assert index is not None
    assert index.build == "b"


def failure(code: str) -> httpx.Response:
    """Return a tool's refusal."""
    text = json.dumps({"code": code, "message": "because", "retryable": False})
    return rpc({"content": [{"type": "text", "text": text}], "isError": True})


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (lambda: httpx.Response(200, text="<html>hello</html>"), ToolContractError),
        (lambda: httpx.Response(200, text=""), ToolContractError),
        (lambda: httpx.Response(200, json=[]), ToolContractError),
        (lambda: httpx.Response(200, json={"jsonrpc": "2.0", "id": 1}), ToolContractError),
        (lambda: rpc({"content": []}), ToolContractError),
        (lambda: rpc({"structuredContent": {"hits": []}}), ToolContractError),
        (lambda: rpc({"structuredContent": FOUND | {"score": 1}}), ToolContractError),
        (
            lambda: rpc({"content": [{"type": "text", "text": "no"}], "isError": True}),
            ToolContractError,
        ),
        (lambda: httpx.Response(202), ToolContractError),
        (
            lambda: httpx.Response(302, headers={"location": "http://evil.test/"}),
            KnowledgeUnavailableError,
        ),
        (lambda: httpx.Response(401), KnowledgeUnavailableError),
        (lambda: httpx.Response(403), KnowledgeUnavailableError),
        (lambda: httpx.Response(404), KnowledgeUnavailableError),
        (lambda: httpx.Response(413), ToolRefusedError),
        (lambda: httpx.Response(421), KnowledgeUnavailableError),
        (lambda: httpx.Response(500, text="Traceback"), KnowledgeUnavailableError),
        (lambda: httpx.Response(503), KnowledgeUnavailableError),
        (lambda: failure("index_unavailable"), KnowledgeUnavailableError),
        (lambda: failure("bad_request"), ToolRefusedError),
        (
            lambda: httpx.Response(
                400, json={"jsonrpc": "2.0", "id": 1, "error": {"code": -32020, "message": "no"}}
            ),
            ToolContractError,
        ),
    ],
)
async def test_every_answer_that_is_not_agreed_becomes_a_typed_error(
    response: Callable[[], httpx.Response], expected: type[KnowledgeError]
) -> None:
    async with client_of(Server(lambda _: response())) as client:
        with pytest.raises(expected):
            await search(client)
        with pytest.raises(expected):
            await search(client)


async def test_an_answer_as_an_event_stream_is_understood() -> None:
    def stream(_: httpx.Request) -> httpx.Response:
        message = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"structuredContent": FOUND}})
        body = f": ping\r\n\r\nevent: message\r\ndata: {message}\r\n\r\n"
        return httpx.Response(200, text=body, headers={"content-type": "text/event-stream"})

    async with client_of(Server(stream)) as client:
        await search(client)


async def test_a_server_that_hangs_is_given_up_at_the_deadline_and_the_client_lives() -> None:
    hangs = True

    async def server(request: httpx.Request) -> httpx.Response:
        if hangs:
            await asyncio.Event().wait()
        return await Server(found)(request)

    async with client_of(server, timeout_seconds=0.05) as client:
        with pytest.raises(KnowledgeTimeoutError):
            await search(client)
        with pytest.raises(KnowledgeTimeoutError):
            await client.ping()
        hangs = False
        await search(client)


async def test_a_dropped_connection_is_tried_once_more() -> None:
    drops = [httpx.RemoteProtocolError("gone"), httpx.ReadError("reset")]
    server = Server(found)

    async def flaky(request: httpx.Request) -> httpx.Response:
        if drops:
            raise drops.pop()
        return await server(request)

    async with client_of(flaky) as client:
        with pytest.raises(KnowledgeUnavailableError):
            await search(client)
        drops.append(httpx.ReadError("reset"))
        await search(client)


async def test_ping_fails_when_the_tools_are_not_the_pinned_ones() -> None:
    server = Server(found)
    async with client_of(server) as client:
        await client.ping()
        server.tools = server.tools[1:]
        with pytest.raises(ToolContractError):
            await client.ping()
