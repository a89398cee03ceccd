"""The tool protocol of 2026-07-28 on the wire: pure functions from values to bytes and back.

That version is sessionless: every call is one self-contained POST, answered by one JSON-RPC
response. There is no handshake, no session id and no stream to keep alive, so a client is a
function of its arguments and has no state that a restarted server could invalidate.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError

from knowledge.contracts import STAGES_KEY, StageOrder
from knowledge.errors import ToolContractError

PROTOCOL_VERSION = "2026-07-28"

ResultT = TypeVar("ResultT", bound=BaseModel)

_META: dict[str, JsonValue] = {
    "io.modelcontextprotocol/protocolVersion": PROTOCOL_VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "vouch", "version": "1"},
}
_FIXED_HEADERS = {
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": PROTOCOL_VERSION,
}


class _Lenient(BaseModel):
    # The envelope belongs to the protocol, which may add fields; what it carries is closed.
    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


class TextContent(_Lenient):
    """One content block; only text blocks have text."""

    type: str
    text: str = ""


class ReplyMeta(_Lenient):
    """What a result carries beside its content, for this product's own API alone."""

    stages: StageOrder | None = Field(default=None, alias=STAGES_KEY)


class CallOutcome(_Lenient, Generic[ResultT]):
    """Result of ``tools/call`` as the server sent it."""

    meta: ReplyMeta = Field(default=ReplyMeta(), alias="_meta")

    content: tuple[TextContent, ...] = ()
    structured: ResultT | None = Field(default=None, alias="structuredContent")
    is_error: bool = Field(default=False, alias="isError")


class ToolDescription(_Lenient):
    """What a server says of one tool: the part that is pinned."""

    name: str
    description: str = ""
    input_schema: dict[str, JsonValue] = Field(alias="inputSchema")
    output_schema: dict[str, JsonValue] | None = Field(default=None, alias="outputSchema")
    annotations: dict[str, JsonValue] | None = None


class ListOutcome(_Lenient):
    """Result of ``tools/list``."""

    tools: tuple[ToolDescription, ...]
    next_cursor: str | None = Field(default=None, alias="nextCursor")


class RpcError(_Lenient):
    """A JSON-RPC error: the protocol itself was refused."""

    code: int
    message: str


class Reply(_Lenient, Generic[ResultT]):
    """One JSON-RPC response."""

    result: ResultT | None = None
    error: RpcError | None = None


def call_request(
    tool: str, arguments: Mapping[str, JsonValue], *, traceparent: str = ""
) -> tuple[dict[str, str], bytes]:
    """Return headers and body of a ``tools/call``."""
    params: dict[str, JsonValue] = {"name": tool, "arguments": dict(arguments)}
    headers = _FIXED_HEADERS | {"mcp-method": "tools/call", "mcp-name": tool}
    return headers, _body("tools/call", params, traceparent)


def list_request() -> tuple[dict[str, str], bytes]:
    """Return headers and body of a ``tools/list``."""
    return _FIXED_HEADERS | {"mcp-method": "tools/list"}, _body("tools/list", {}, "")


def parse_reply(
    adapter: TypeAdapter[Reply[ResultT]], body: bytes, *, content_type: str
) -> Reply[ResultT]:
    """Return the response in a body, checked against our types in one pass.

    Args:
        adapter: Of the reply type expected.
        body: The whole response body, JSON or an event stream that ends with the response.
        content_type: The response's media type.

    Raises:
        ToolContractError: The body is no such response.
    """
    if content_type.startswith("text/event-stream"):
        body = _last_event(body)
    try:
        reply = adapter.validate_json(body)
    except ValidationError as error:
        places = sorted({".".join(map(str, fault["loc"])) for fault in error.errors()})[:3]
        raise ToolContractError(
            f"the tool server's answer is not what was agreed: {', '.join(places) or 'no JSON'}"
        ) from error
    if reply.result is None and reply.error is None:
        raise ToolContractError("the tool server's answer is no JSON-RPC response")
    return reply


def _body(method: str, params: dict[str, JsonValue], traceparent: str) -> bytes:
    meta = _META | {"traceparent": traceparent} if traceparent else _META
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params | {"_meta": meta}}
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    # A model's argument may hold half of a surrogate pair, which no encoding can carry.
    return text.encode("utf-8", "replace")


def _last_event(body: bytes) -> bytes:
    lines = [line[5:].strip() for line in body.splitlines() if line.startswith(b"data:")]
    return lines[-1] if lines else b""
