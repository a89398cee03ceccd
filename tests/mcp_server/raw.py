"""Requests as bytes would put them on the wire, without any client of ours or the SDK's."""

from __future__ import annotations

import json
from collections.abc import Mapping

import httpx
from pydantic import JsonValue

from tests.mcp_server.serving import TOKEN

ACCEPT = "application/json, text/event-stream"
MODERN = "2026-07-28"


def modern_headers(method: str, *, name: str = "", token: str | None = TOKEN) -> dict[str, str]:
    """Return the headers of a sessionless request."""
    headers = {"accept": ACCEPT, "mcp-protocol-version": MODERN, "mcp-method": method}
    if name:
        headers["mcp-name"] = name
    if token is not None:
        headers["authorization"] = f"Bearer {token}"
    return headers


def modern_body(method: str, params: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the body of a sessionless request."""
    meta: dict[str, JsonValue] = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    return {"jsonrpc": "2.0", "id": 7, "method": method, "params": {**params, "_meta": meta}}


async def call_modern(
    url: str,
    tool: str,
    arguments: Mapping[str, JsonValue],
    *,
    path: str = "/mcp",
    token: str | None = TOKEN,
    headers: Mapping[str, str] | None = None,
) -> httpx.Response:
    """Call a tool with one self-contained POST."""
    async with httpx.AsyncClient(trust_env=False) as client:
        return await client.post(
            url + path,
            headers=modern_headers("tools/call", name=tool, token=token) | dict(headers or {}),
            json=modern_body("tools/call", {"name": tool, "arguments": dict(arguments)}),
        )


async def send_handshake(
    url: str, version: str, method: str, params: Mapping[str, JsonValue], *, token: str = TOKEN
) -> httpx.Response:
    """Send one request of a version that has a handshake, on a connection of its own."""
    headers = {
        "accept": ACCEPT,
        "authorization": f"Bearer {token}",
        "mcp-protocol-version": version,
    }
    body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": dict(params)}
    async with httpx.AsyncClient(trust_env=False) as client:
        return await client.post(f"{url}/mcp", headers=headers, json=body)


def message_of(response: httpx.Response) -> dict[str, JsonValue]:
    """Return the JSON-RPC message of a response, JSON or event stream."""
    text = response.text
    if response.headers["content-type"].startswith("text/event-stream"):
        text = [line[5:] for line in text.splitlines() if line.startswith("data:")][-1]
    message: dict[str, JsonValue] = json.loads(text)
    return message


def result_of(response: httpx.Response) -> dict[str, JsonValue]:
    """Return the result in a response."""
    result = message_of(response)["result"]
    assert isinstance(result, dict)
    return result
