"""Makes the servers of the tool sets, which differ in their tools and their scope alone."""

from __future__ import annotations

from collections.abc import Sequence

from mcp.server.auth.provider import TokenVerifier
from mcp.server.mcpserver.tools import Tool
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette

from mcp_server.calls import CallDesk
from mcp_server.context_rest import ContextDoor
from mcp_server.server import ToolServer
from mcp_server.settings import McpSettings
from service.health import installed_version
from service.tokens import Scope


class ToolSets:
    """Opens tool sets that share one desk and one gate.

    Args:
        settings: Hosts, origins and the longest body.
        desk: Runs, limits and records the calls.
        gate: Verifies bearer tokens.
    """

    def __init__(self, settings: McpSettings, desk: CallDesk, gate: TokenVerifier) -> None:
        self._settings = settings
        self._desk = desk
        self._gate = gate

    def open(self, scope: Scope, tools: Sequence[Tool], instructions: str) -> ToolServer:
        """Return the server of one set."""
        return ToolServer(
            f"vouch-{scope}",
            version=installed_version(),
            instructions=instructions,
            tools=tools,
            desk=self._desk,
            gate=self._gate,
            scope=scope,
        )

    def serve(self, server: ToolServer, path: str) -> Starlette:
        """Return the MCP application of a server."""
        return server.streamable_http_app(
            streamable_http_path=path,
            stateless_http=True,
            transport_security=self._security(),
            max_request_body_size=self._settings.mcp_body_limit_bytes,
        )

    def serve_rest(self, tools: Sequence[Tool]) -> Starlette:
        """Return the REST application of the context tools."""
        door = ContextDoor(tools, self._desk, self._security())
        return door.serve(self._gate, limit_bytes=self._settings.mcp_body_limit_bytes)

    def _security(self) -> TransportSecuritySettings:
        return TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=list(self._settings.mcp_allowed_hosts),
            allowed_origins=list(self._settings.mcp_allowed_origins),
        )
