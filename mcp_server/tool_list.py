"""The tool list as callers see it, and the command that pins it.

``python -m mcp_server.tool_list`` compares the pinned list with the tools of this code;
``--write`` pins them anew, for a change that was reviewed.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from mcp.server.mcpserver import MCPServer

from knowledge.client_wire import ToolDescription
from knowledge.errors import ToolContractError
from knowledge.pin import PIN_FILE, Pin, check_pin, make_pin, read_pin, render_pin
from mcp_server.engine import Engine
from mcp_server.index_keeper import IndexKeeper
from mcp_server.tools import DocumentationTools
from retrieval.errors import IndexUnavailableError

_PIN_PATH = Path(__file__).resolve().parents[1] / "knowledge" / PIN_FILE


async def describe_tools(server: MCPServer[None]) -> tuple[ToolDescription, ...]:
    """Return what a server says of its tools."""
    return tuple(
        ToolDescription.model_validate(
            tool.model_dump(mode="json", by_alias=True, exclude_none=True)
        )
        for tool in await server.list_tools()
    )


async def pin_of_this_code() -> Pin:
    """Return the pin of the four tools as this code offers them."""

    async def never() -> Engine:
        raise IndexUnavailableError("listing tools needs no index")

    keeper = IndexKeeper(never, poll_seconds=1)
    server: MCPServer[None] = MCPServer("vouch", tools=list(DocumentationTools(keeper).all()))
    return make_pin(await describe_tools(server))


def main(arguments: list[str]) -> int:
    """Compare or write the pinned list; returns the process's exit code."""
    pin = asyncio.run(pin_of_this_code())
    if "--write" in arguments:
        _PIN_PATH.write_text(render_pin(pin), encoding="utf-8")
        return 0
    try:
        check_pin(read_pin(), pin.tools)
    except ToolContractError as error:
        sys.stderr.write(f"{error}; review the change, then run with --write\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
