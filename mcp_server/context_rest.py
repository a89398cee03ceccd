"""The REST door of the context tools: ``POST /api/v1/context/NAME`` with the tool's arguments.

It calls the very tools of the MCP door, at the same desk and so with the same audit; only the shape
of the answer differs. A refusal has the tool's own error object as its body.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias, cast

from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend, RequireAuthMiddleware
from mcp.server.auth.provider import TokenVerifier
from mcp.server.mcpserver.tools import Tool
from mcp.server.transport_security import (
    RequestBodyLimitMiddleware,
    TransportSecurityMiddleware,
    TransportSecuritySettings,
)
from mcp.types import CallToolResult, TextContent
from pydantic import JsonValue
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from knowledge.contracts import ToolFailure
from mcp_server.calls import CallDesk
from mcp_server.errors import failure_of, status_of
from service.tokens import Scope

CONTEXT_API_PATH = "/api/v1/context"

_CONTEXT: Scope = "context"
_RETRY_SECONDS = 1

_Body: TypeAlias = dict[str, JsonValue]


class ContextDoor:
    """Answers REST calls of tools.

    Args:
        tools: Those of the MCP door.
        desk: Runs, limits and records the calls.
        security: Hosts and origins that may call.
    """

    def __init__(
        self, tools: Sequence[Tool], desk: CallDesk, security: TransportSecuritySettings
    ) -> None:
        self._tools: Mapping[str, Tool] = {tool.name: tool for tool in tools}
        self._desk = desk
        self._security = TransportSecurityMiddleware(security)

    def serve(self, gate: TokenVerifier, *, limit_bytes: int) -> Starlette:
        """Return the application, for the scope ``context`` alone."""
        return Starlette(
            routes=[Route("/{name}", self.call, methods=["POST"])],
            middleware=[
                Middleware(RequestBodyLimitMiddleware, max_body_size=limit_bytes),
                Middleware(AuthenticationMiddleware, backend=BearerAuthBackend(gate)),
                Middleware(AuthContextMiddleware),
                Middleware(RequireAuthMiddleware, required_scopes=[_CONTEXT]),
            ],
        )

    async def call(self, request: Request) -> Response:
        """Run one call."""
        foreign = await self._security.validate_request(request, is_post=True)
        if foreign is not None:
            return foreign
        try:
            given: object = json.loads(await request.body() or b"{}")
        except ValueError:
            return _refused(ToolFailure(code="bad_arguments", message="the body is not JSON"))
        if not isinstance(given, dict):
            return _refused(ToolFailure(code="bad_arguments", message="the body is no object"))
        name = str(request.path_params["name"])
        result = await self._desk.run(name, self._tools.get(name), cast("_Body", given))
        return _answer(result)


def _answer(result: CallToolResult) -> Response:
    if not result.is_error:
        return JSONResponse(result.structured_content)
    content = result.content[0]
    if not isinstance(content, TextContent):
        return _refused(failure_of(TypeError("a refusal without its words")))
    return _refused(ToolFailure.model_validate_json(content.text))


def _refused(failure: ToolFailure) -> Response:
    status = status_of(failure)
    wait_seconds = failure.retry_after_seconds or _RETRY_SECONDS
    headers = {"Retry-After": str(wait_seconds)} if failure.retryable else None
    return JSONResponse(failure.model_dump(mode="json"), status_code=status, headers=headers)
