"""Clients of every protocol version list and call the tools, with no session to stick to."""

from __future__ import annotations

import asyncio
from typing import Literal

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from pydantic import JsonValue

from knowledge.tools import TOOL_NAMES
from tests.mcp_server.raw import call_modern, result_of, send_handshake
from tests.mcp_server.serving import TOKEN, claims, connect, serve, sign

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")


def hello_of(version: str) -> dict[str, JsonValue]:
    """Return the parameters of a handshake."""
    client: dict[str, JsonValue] = {"name": "raw", "version": "1"}
    return {"protocolVersion": version, "capabilities": {}, "clientInfo": client}


@pytest.mark.parametrize("version", HANDSHAKE_VERSIONS)
async def test_a_handshake_version_lists_and_calls_without_a_session(version: str) -> None:
    hello = hello_of(version)
    async with serve() as running:
        started = await send_handshake(running.url, version, "initialize", hello)
        listed = await send_handshake(running.url, version, "tools/list", {})
        called = await send_handshake(
            running.url,
            version,
            "tools/call",
            {"name": "search_kb", "arguments": {"query": "limit", "top_k": 2}},
        )
    assert result_of(started)["protocolVersion"] == version
    assert "mcp-session-id" not in started.headers
    tools = result_of(listed)["tools"]
    assert isinstance(tools, list)
    assert [tool["name"] for tool in tools if isinstance(tool, dict)] == list(TOOL_NAMES)
    answer = result_of(called)
    assert answer.get("isError") is not True
    assert "Passage 1" in str(answer["content"])


async def test_a_handshake_client_may_land_on_another_server_process() -> None:
    hello = hello_of("2025-06-18")
    call: dict[str, JsonValue] = {"name": "search_kb", "arguments": {"query": "limit"}}
    async with serve() as first, serve() as second:
        await send_handshake(first.url, "2025-06-18", "initialize", hello)
        answer = result_of(await send_handshake(second.url, "2025-06-18", "tools/call", call))
    assert answer.get("isError") is not True


async def test_concurrent_handshake_calls_keep_their_own_callers() -> None:
    call: dict[str, JsonValue] = {"name": "list_sections", "arguments": {"source": "secret"}}
    labels = [("staff",) if number % 2 else () for number in range(12)]
    async with serve() as running, connect(running.url) as client:
        responses = await asyncio.gather(
            *(
                send_handshake(
                    running.url,
                    "2025-06-18",
                    "tools/call",
                    call,
                    token=sign(claims(ask_id=f"ask-{number}", labels=granted)),
                )
                for number, granted in enumerate(labels)
            )
        )
        rows = [(await client.read_audit(f"ask-{number}")).rows for number in range(12)]
    seen = [str(result_of(response)["structuredContent"]) for response in responses]
    assert ["docs.example/secret" in text for text in seen] == [bool(each) for each in labels]
    assert [len(each) for each in rows] == [1] * 12


async def test_the_sessionless_version_answers_one_post_with_json() -> None:
    async with serve() as running:
        response = await call_modern(running.url, "search_kb", {"query": "limit", "top_k": 2})
    assert response.headers["content-type"].startswith("application/json")
    structured = result_of(response)["structuredContent"]
    assert isinstance(structured, dict)
    assert structured["query"] == "limit"


@pytest.mark.parametrize("mode", ["auto", "legacy", "2026-07-28"])
async def test_the_sdk_client_works_in_each_of_its_modes(
    mode: Literal["auto", "legacy", "2026-07-28"],
) -> None:
    async with serve() as running:
        headers = {"authorization": f"Bearer {TOKEN}"}
        async with (
            httpx2.AsyncClient(headers=headers, trust_env=False) as http,
            Client(
                streamable_http_client(f"{running.url}/mcp", http_client=http),
                mode=mode,
                read_timeout_seconds=10,
            ) as client,
        ):
            names = [tool.name for tool in (await client.list_tools()).tools]
            result = await client.call_tool("search_kb", {"query": "limit", "top_k": 2})
    assert names == list(TOOL_NAMES)
    assert not result.is_error
    assert result.structured_content is not None
    assert len(result.structured_content["hits"]) == 2
