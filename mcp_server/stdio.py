"""Bridges a desktop MCP host, which speaks over standard input and output, to the running server.

The bridge holds no index and no session: every request opens its own connection, so that the host
stays connected while the server behind it restarts.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
)
from pydantic import Field, SecretStr

from knowledge.contracts import ToolFailure
from mcp_server.ask_tool import ASK, ASK_TOOL, AskDoor
from mcp_server.errors import refuse
from mcp_server.tools import INSTRUCTIONS
from service.health import installed_version
from service.logs import configure_logging, get_logger
from service.settings import ServiceSettings

_log = get_logger(__name__)

_PROTOCOL_VERSION = "2026-07-28"
_CONNECT_SECONDS = 2.0
_SECRETS_FILE = "secrets.json"
_AWAY = "the tool server cannot be reached; start it with `vouch up`"


class BridgeSettings(ServiceSettings):
    """Where the running tool server is, and the token to call it with."""

    mcp_url: str = Field(default="http://127.0.0.1:8001", description="Where the tool server is.")
    mcp_token: SecretStr = Field(
        default=SecretStr(""),
        description="Fixed bearer token; unset: the one `vouch up` keeps in the data folder.",
    )
    api_url: str = Field(
        default="http://127.0.0.1:8000",
        description="Where the API is, for the tool `ask`; empty: the tool is not offered.",
    )


class Bridge:
    """Passes the two requests a host makes on to the server.

    Args:
        url: Endpoint of the four tools.
        token: Bearer token.
        door: Answers the tool ``ask``, which the server does not have; None leaves it out.
        timeout_seconds: Longest time one request may take.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        door: AskDoor | None = None,
        timeout_seconds: float = 30.0,
    ) -> None:
        self._door = door
        self._url = url
        self._headers = {"authorization": f"Bearer {token}"}
        self._timeout_seconds = timeout_seconds

    async def list_tools(
        self, _: ServerRequestContext, __: PaginatedRequestParams | None
    ) -> ListToolsResult:
        """Return the server's own tool list, and ``ask`` after it.

        Raises:
            MCPError: The server is away or refuses the token.
        """
        try:
            async with self._connection() as client:
                found = await client.list_tools()
        except Exception as error:
            _log.warning("bridge_list_failed", reason=repr(error))
            raise MCPError(code=INTERNAL_ERROR, message=_AWAY) from error
        if self._door is None:
            return found
        return found.model_copy(update={"tools": [*found.tools, ASK_TOOL]})

    async def call_tool(
        self, _: ServerRequestContext, params: CallToolRequestParams
    ) -> CallToolResult:
        """Return the server's own answer, or the refusal that it is away."""
        if self._door is not None and params.name == ASK:
            return await self._door.call(params.arguments)
        try:
            async with self._connection() as client:
                return await client.call_tool(params.name, params.arguments)
        except Exception as error:  # noqa: BLE001 - the SDK raises groups of any kind of error
            _log.warning("bridge_call_failed", tool=params.name, reason=repr(error))
            failure = ToolFailure(code="server_unavailable", message=_AWAY, retryable=True)
            return refuse(failure)

    @asynccontextmanager
    async def _connection(self) -> AsyncGenerator[Client]:
        timeout = httpx2.Timeout(self._timeout_seconds, connect=_CONNECT_SECONDS)
        async with (
            httpx2.AsyncClient(headers=self._headers, timeout=timeout, trust_env=False) as http,
            Client(
                streamable_http_client(self._url, http_client=http),
                mode=_PROTOCOL_VERSION,
                read_timeout_seconds=self._timeout_seconds,
            ) as client,
        ):
            yield client


def bridge_server(bridge: Bridge) -> Server:
    """Return the stdio side of a bridge."""
    return Server(
        "vouch",
        version=installed_version(),
        instructions=INSTRUCTIONS,
        on_list_tools=bridge.list_tools,
        on_call_tool=bridge.call_tool,
    )


def main() -> None:
    """Serve standard input and output until the host closes them."""
    settings = BridgeSettings()
    configure_logging(settings, process="mcp-stdio")
    root = settings.mcp_url.rstrip("/").removesuffix("/mcp")
    door = AskDoor(settings.api_url) if settings.api_url else None
    bridge = Bridge(f"{root}/mcp", token_of(settings), door=door)
    asyncio.run(_serve(bridge_server(bridge)))


def token_of(settings: BridgeSettings) -> str:
    """Return the token to call with; empty when there is none, which the server then refuses.

    Args:
        settings: A token given there wins over the one that ``vouch up`` made.
    """
    if given := settings.mcp_token.get_secret_value():
        return given
    path = settings.data_dir / _SECRETS_FILE
    if not path.is_file():
        return ""
    secrets: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    return secrets.get("VOUCH_MCP_TOKEN", "")


async def _serve(server: Server) -> None:
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    main()
