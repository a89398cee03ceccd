"""The edge for other agents: tools on this origin, passed on to the tool server."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response

from backend.api.ask import CallerHere
from backend.api.examples import problem_responses
from backend.caller import Caller
from knowledge.forward import Forwarder
from service.tokens import Claims, Scope

router = APIRouter(tags=["tools"])

_RESPONSES = problem_responses(403, 404, 413, 422, 503, 504)
ToolName = Annotated[str, Path(pattern=r"^[a-z_]{1,64}$", description="Name of the tool.")]


@router.post("/api/v1/context/{tool}", responses=_RESPONSES)
async def call_context_tool(tool: ToolName, request: Request, caller: CallerHere) -> Response:
    """Call a context tool with the JSON object of its arguments.

    A refusal has the tool's own error object: `code`, `message`, `retryable`.
    """
    return await _pass_on(request, f"/api/v1/context/{tool}", caller, "context")


@router.post("/mcp", responses=_RESPONSES)
async def call_tools(request: Request, caller: CallerHere) -> Response:
    """MCP Streamable HTTP: the four tools, one JSON reply for each call."""
    return await _pass_on(request, "/mcp", caller, "search")


@router.post("/mcp/context", responses=_RESPONSES)
async def call_context_tools(request: Request, caller: CallerHere) -> Response:
    """MCP Streamable HTTP: the context tools, one JSON reply for each call."""
    return await _pass_on(request, "/mcp/context", caller, "context")


async def _pass_on(request: Request, path: str, caller: Caller, scope: Scope) -> Response:
    forwarder: Forwarder = request.app.state.forwarder
    claims = Claims(
        ask_id="", branch="direct", scopes=(scope,), labels=caller.labels, subject=caller.name
    )
    reply = await forwarder.post(path, await request.body(), request.headers, claims)
    return Response(
        reply.body,
        status_code=reply.status,
        headers=dict(reply.headers),
        media_type="application/json",
    )
