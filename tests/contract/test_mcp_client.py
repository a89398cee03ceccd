"""Our client and the SDK's, on one server: the same tools, the same data."""

from __future__ import annotations

import asyncio

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from knowledge.contracts import SearchResult, SectionPage, Source
from knowledge.pin import check_pin, read_pin
from mcp_server.tool_list import pin_of_this_code
from tests.mcp_server.serving import claims, connect, serve, sign


async def test_the_pinned_tools_are_those_of_this_code() -> None:
    pin = await pin_of_this_code()
    # After a reviewed change: python -m mcp_server.tool_list --write
    check_pin(read_pin(), pin.tools)


async def test_both_clients_read_the_same() -> None:
    async with serve() as running, connect(running.url) as ours:
        tools = ours.bind(claims())
        headers = {"authorization": f"Bearer {sign(claims())}"}
        async with (
            httpx2.AsyncClient(headers=headers, trust_env=False) as http,
            Client(
                streamable_http_client(f"{running.url}/mcp", http_client=http), mode="2026-07-28"
            ) as theirs,
        ):
            found, page = await asyncio.gather(tools.search_kb("limit", 3), tools.list_sections())
            chunk_id = found.hits[0].chunk_id
            source = await tools.get_source(chunk_id)
            their_found = await theirs.call_tool("search_kb", {"query": "limit", "top_k": 3})
            their_page = await theirs.call_tool("list_sections", {})
            their_source = await theirs.call_tool("get_source", {"chunk_id": chunk_id})
    assert SearchResult.model_validate(their_found.structured_content) == found
    assert SectionPage.model_validate(their_page.structured_content) == page
    assert Source.model_validate(their_source.structured_content) == source
