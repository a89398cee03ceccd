"""The bridge for desktop hosts."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError
from mcp.types import TextContent

from cli.secrets import ensure_secrets
from knowledge.contracts import ToolFailure
from knowledge.tools import TOOL_NAMES
from mcp_server.ask_tool import ASK
from mcp_server.stdio import Bridge, BridgeSettings, bridge_server, token_of
from tests.environment import environment
from tests.mcp_server.serving import TOKEN, serve


async def test_a_host_over_standard_streams_lists_and_calls_the_tools() -> None:
    async with serve() as running:
        command = StdioServerParameters(
            command=sys.executable,
            args=["-m", "mcp_server.stdio"],
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": str(Path.cwd()),
                "VOUCH_MCP_URL": running.url,
                "VOUCH_MCP_TOKEN": TOKEN,
            },
        )
        async with Client(stdio_client(command), read_timeout_seconds=60) as host:
            names = [tool.name for tool in (await host.list_tools()).tools]
            result = await host.call_tool("search_kb", {"query": "limit", "top_k": 2})
    assert names == [*TOOL_NAMES, ASK]
    assert result.structured_content is not None
    assert len(result.structured_content["hits"]) == 2
    (content,) = result.content
    assert isinstance(content, TextContent)
    assert "Passage 1" in content.text


def test_the_token_that_the_launcher_made_is_found_in_the_data_folder(tmp_path: Path) -> None:
    with environment(VOUCH_DATA_DIR=str(tmp_path)):
        assert token_of(BridgeSettings()) == ""
        ensure_secrets(tmp_path, {})
        made = token_of(BridgeSettings())
    with environment(VOUCH_DATA_DIR=str(tmp_path), VOUCH_MCP_TOKEN="given"):
        assert token_of(BridgeSettings()) == "given"
    assert len(made) >= 32


async def test_a_host_stays_connected_while_the_server_is_away(free_port: int) -> None:
    bridge = Bridge(f"http://127.0.0.1:{free_port}/mcp", TOKEN)
    async with Client(bridge_server(bridge)) as host:
        with pytest.raises(MCPError, match="cannot be reached"):
            await host.list_tools()
        async with serve(port=free_port):
            await host.list_tools()
        result = await host.call_tool("search_kb", {"query": "limit"})
    (content,) = result.content
    assert result.is_error
    assert isinstance(content, TextContent)
    assert ToolFailure.model_validate_json(content.text).code == "server_unavailable"


async def test_a_refusal_of_the_server_reaches_the_host_as_it_is() -> None:
    async with serve() as running:
        bridge = Bridge(f"{running.url}/mcp", TOKEN)
        async with Client(bridge_server(bridge)) as host:
            result = await host.call_tool("get_source", {"chunk_id": "none"})
    (content,) = result.content
    assert isinstance(content, TextContent)
    assert ToolFailure.model_validate_json(content.text).code == "unknown_chunk"
