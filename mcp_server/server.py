"""An MCP server whose every tool call goes through the call desk."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from mcp.server.auth.provider import TokenVerifier
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.tools import Tool
from mcp.types import CallToolResult, ToolAnnotations
from pydantic import AnyHttpUrl, BaseModel

from mcp_server.calls import CallDesk
from service.tokens import Scope

READ_ONLY = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)

ToolFunction = Callable[..., Coroutine[None, None, BaseModel]]


def make_tool(function: ToolFunction, *, annotations: ToolAnnotations = READ_ONLY) -> Tool:
    """Return a tool of a coroutine function: its docstring is prompt text, its types the schemas.

    Args:
        function: Returns a contract model, which becomes the structured content.
        annotations: What a host is told of the tool's effects.
    """
    description = inspect.cleandoc(function.__doc__ or "")
    return Tool.from_function(
        function, description=description, annotations=annotations, structured_output=True
    )


class ToolServer(MCPServer[None]):
    """One set of tools behind one scope.

    Args:
        name: Name the server gives itself.
        version: Version of the installed package.
        instructions: What a host is told of the whole set.
        tools: Every tool there is.
        desk: Runs, limits and records the calls.
        gate: Verifies bearer tokens.
        scope: Scope a token needs.
    """

    def __init__(
        self,
        name: str,
        *,
        version: str,
        instructions: str,
        tools: Sequence[Tool],
        desk: CallDesk,
        gate: TokenVerifier,
        scope: Scope,
    ) -> None:
        super().__init__(
            name,
            version=version,
            instructions=instructions,
            tools=list(tools),
            log_level="WARNING",
            token_verifier=gate,
            auth=AuthSettings(
                issuer_url=AnyHttpUrl("http://127.0.0.1/"),
                resource_server_url=None,
                required_scopes=[scope],
            ),
            subscriptions=False,
        )
        self._desk = desk
        self._by_name = {tool.name: tool for tool in tools}

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any],
        context: Context[None, Any] | None = None,  # noqa: ARG002 - the SDK's signature
    ) -> CallToolResult:
        """Run a call at the desk, which records it and maps its errors.

        Args:
            name: Tool asked for, known or not.
            arguments: As the caller gave them, not yet checked.
            context: Unused: the caller comes from the token, the request id from the edge.
        """
        return await self._desk.run(name, self._by_name.get(name), arguments)
