"""An agent gateway on a real socket that really speaks MCP to the tool server it is given.

    with serve(searches("What is the limit?", then="It is 10 [{first}].")) as gateway:
        settings = AgentSettings(agent="gateway", openai_base_url=gateway.url, ...)

It answers ``/v1/responses`` with the ``mcp`` tool's address and authorization, and
``/v1/chat/completions`` with the address and token it was registered with, as gateways do that
cannot pass a token per ask.

    searches(query, then=)   searches for what the test says; "{first}" is the first chunk's id;
                             query None searches for what it was asked
    never_searches           answers off the cuff
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

import httpx

_MODERN = "2026-07-28"


class ToolServer:
    """The tool server as the gateway calls it: bare requests, no client of ours."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url
        self._token = token

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Call a tool and return its structured content."""
        body: dict[str, Any] = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {
                "name": tool,
                "arguments": arguments,
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": _MODERN,
                    "io.modelcontextprotocol/clientCapabilities": {},
                },
            },
        }
        headers = {
            "accept": "application/json, text/event-stream",
            "authorization": f"Bearer {self._token}",
            "mcp-protocol-version": _MODERN,
            "mcp-method": "tools/call",
            "mcp-name": tool,
        }
        reply = httpx.post(self._url, json=body, headers=headers, timeout=10, trust_env=False)
        reply.raise_for_status()
        return reply.json()["result"]["structuredContent"]


Plan: TypeAlias = Callable[[ToolServer, str], str]


def searches(*queries: str | None, then: str) -> Plan:
    def run(server: ToolServer, question: str) -> str:
        first = ""
        for query in queries or (None,):
            result = server.call("search_kb", query=query or question, top_k=4)
            hits = result.get("result", result)["hits"]
            first = first or str(hits[0]["chunk_id"])
        return then.replace("{first}", first)

    return run


def never_searches(server: ToolServer, question: str) -> str:
    return "The limit is forty-two, as everyone knows [1]."


class ScriptedGateway:
    """The running gateway."""

    def __init__(self, plan: Plan, registered: ToolServer | None) -> None:
        self.requests: list[dict[str, Any]] = []
        self._plan = plan
        self._registered = registered
        self._server = _Server(("127.0.0.1", 0), self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    @property
    def url(self) -> str:
        """What ``OPENAI_BASE_URL`` is set to."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def answer(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        self.requests.append(body)
        if path.endswith("/responses"):
            (tool,) = body["tools"]
            server = ToolServer(tool["server_url"], tool["authorization"])
            return _response(self._plan(server, body["input"]))
        assert self._registered is not None
        return _completion(self._plan(self._registered, body["messages"][-1]["content"]))

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextlib.contextmanager
def serve(plan: Plan, *, registered: ToolServer | None = None) -> Generator[ScriptedGateway]:
    """Run the gateway for the length of a with block."""
    gateway = ScriptedGateway(plan, registered)
    try:
        yield gateway
    finally:
        gateway.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], gateway: ScriptedGateway) -> None:
        self.gateway = gateway
        super().__init__(address, _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride] - always ours

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", "0"))
        body = json.loads(self.rfile.read(length))
        payload = json.dumps(self.server.gateway.answer(self.path, body)).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Stay silent: a test prints what matters."""


def _response(text: str) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "output_text", "text": text, "annotations": []}]
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": content,
    }
    usage = {
        "input_tokens": 7,
        "output_tokens": 3,
        "total_tokens": 10,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 0,
        "model": "gateway-model",
        "status": "completed",
        "output": [message],
        "usage": usage,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def _completion(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "gateway-model",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    }
