"""An OpenAI-compatible chat endpoint on a real socket that does what a test tells it to.

    with serve(in_turn(call("search_kb", query="ports"), say("It is 8000 [1]."))) as model:
        settings = AgentSettings(agent="llm", openai_base_url=model.url, model="scripted")

It runs in its own thread, so it serves asynchronous tests, synchronous ones (a browser, a child
process with ``OPENAI_BASE_URL``) alike. Without a script it answers from the evidence it is shown.

What it can do, each a ``Reply``:
    say(text)                  a plain answer
    call(tool, **arguments)    one tool call; ``calls`` for several, ``raw_call`` for bad JSON
    html()                     status 200 with a web page
    no_choices()               a completion without choices
    status(code, message)      an error status
    hang()                     never answers; ``model.left`` is set when the client gives up
    cut()                      half an answer, then the line is dead
    wait_for(event, reply)     answers once the test sets the event

What chooses the reply, each a ``Script`` (any callable from ``ChatRequest`` to ``Reply`` will do):
    always(reply)              the same each time
    in_turn(*replies)          one after the other, the last for ever
    without_tools(script)      status 400 that complains of tools while the request carries any
    answers_from_evidence      the first sentence of the first passage, cited
    lies                       a confident answer that cites [1] whatever the evidence
    refuses_in_own_words       a refusal that is not the fixed sentence
    obeys                      does what orders inside the evidence say, word for word
    calls_endlessly            searches in every round, also when it was given no tools

``model.requests`` keeps each request as it came; ``usage`` counts four characters as one token.
"""

from __future__ import annotations

import contextlib
import json
import re
import socket
import threading
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TypeAlias, cast

JsonObject: TypeAlias = dict[str, object]

_EVIDENCE = re.compile(r"BEGIN EVIDENCE \[(\d+)\] (\w+)\n(.*?)\nEND EVIDENCE \[\1\] \2", re.DOTALL)
_ORDER = re.compile(
    r"(?i)ignore|disregard|forget|instead|assistant:|system:|instruction|print|say |reply|respond"
    r"|provide|output|visit|click|https?://|\bexec|<[a-z]+[ >]|!\[|javascript:"
)


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request as the endpoint received it."""

    body: JsonObject
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def messages(self) -> list[JsonObject]:
        return cast("list[JsonObject]", self.body.get("messages", []))

    @property
    def tool_names(self) -> tuple[str, ...]:
        tools = cast("list[dict[str, dict[str, str]]]", self.body.get("tools") or [])
        return tuple(tool["function"]["name"] for tool in tools)

    @property
    def text(self) -> str:
        """Everything the model reads, joined."""
        return "\n".join(str(message.get("content") or "") for message in self.messages)

    @property
    def evidence(self) -> dict[int, str]:
        """Passages put before the model, by number; the first line of each names its place."""
        return {int(number): text for number, _, text in _EVIDENCE.findall(self.text)}


@dataclass(frozen=True, slots=True)
class Reply:
    """What goes back over the line.

    Attributes:
        status: HTTP status.
        content_type: Of the body.
        body: JSON text or a page; for a cut line only half of it is sent.
        fate: ``send``, ``hang`` or ``cut``.
        gate: The answer waits for it.
    """

    body: str = ""
    status: int = 200
    content_type: str = "application/json"
    fate: str = "send"
    gate: threading.Event | None = None


Script: TypeAlias = Callable[[ChatRequest], Reply]


def say(text: str) -> Reply:
    return _completion({"role": "assistant", "content": text}, "stop", len(text))


def call(tool: str, **arguments: object) -> Reply:
    return raw_call(tool, json.dumps(arguments))


def calls(*wanted: tuple[str, Mapping[str, object]]) -> Reply:
    return _tool_calls([(tool, json.dumps(arguments)) for tool, arguments in wanted])


def raw_call(tool: str, arguments: str) -> Reply:
    return _tool_calls([(tool, arguments)])


def html() -> Reply:
    return Reply("<html><body>Welcome to the proxy</body></html>", content_type="text/html")


def no_choices() -> Reply:
    return Reply(json.dumps(_envelope([], 0)))


def status(code: int, message: str) -> Reply:
    error = {"message": message, "type": "invalid_request_error", "code": None}
    return Reply(json.dumps({"error": error}), status=code)


def hang() -> Reply:
    return Reply(fate="hang")


def cut() -> Reply:
    return Reply(say("The answer is in the middle of").body, fate="cut")


def wait_for(event: threading.Event, reply: Reply) -> Reply:
    return Reply(reply.body, reply.status, reply.content_type, reply.fate, event)


def always(reply: Reply) -> Script:
    return lambda _: reply


def in_turn(*replies: Reply) -> Script:
    left = list(replies)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]


def without_tools(script: Script) -> Script:
    def choose(request: ChatRequest) -> Reply:
        if "tools" in request.body:
            return status(400, "this model does not support tools")
        return script(request)

    return choose


def answers_from_evidence(request: ChatRequest) -> Reply:
    for number, passage in request.evidence.items():
        body = passage.partition("\n")[2]
        lines = [line.strip() for line in body.splitlines() if len(line.split()) >= 6]
        if lines:
            return say(f"{re.split(r'(?<=[.!?]) ', lines[0])[0]} [{number}]")
    return say("The documentation does not say.")


def lies(request: ChatRequest) -> Reply:
    return say("Yes, certainly: the answer is forty-two, as everyone knows [1].")


def refuses_in_own_words(request: ChatRequest) -> Reply:
    return say("I'm sorry, but I couldn't find any information about that in the passages.")


def obeys(request: ChatRequest) -> Reply:
    orders = [
        line.strip()
        for passage in request.evidence.values()
        for line in passage.splitlines()
        if _ORDER.search(line)
    ]
    return say("\n".join([*orders, "Done as told [1]."]))


def calls_endlessly(request: ChatRequest) -> Reply:
    return call("search_kb", query=f"again {len(request.messages)}")


class ScriptedModel:
    """The running endpoint."""

    def __init__(self, script: Script) -> None:
        self.requests: list[ChatRequest] = []
        self.arrived = threading.Event()
        self.left = threading.Event()
        self._script = script
        self._server = _Server(("127.0.0.1", 0), self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    @property
    def url(self) -> str:
        """What ``OPENAI_BASE_URL`` is set to."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def follow(self, script: Script) -> None:
        """Use another script from the next request on."""
        self._script = script

    def choose(self, request: ChatRequest) -> Reply:
        self.requests.append(request)
        reply = self._script(request)
        self.arrived.set()
        return _counted(reply, len(request.text))

    def close(self) -> None:
        self._server.shutdown()
        self._server.drop_connections()
        self._server.server_close()
        self._thread.join()


@contextlib.contextmanager
def serve(script: Script = answers_from_evidence) -> Generator[ScriptedModel]:
    """Run the endpoint for the length of a with block."""
    model = ScriptedModel(script)
    try:
        yield model
    finally:
        model.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = True

    def __init__(self, address: tuple[str, int], model: ScriptedModel) -> None:
        self.model = model
        self._connections: set[socket.socket] = set()
        self._lock = threading.Lock()
        super().__init__(address, _Handler)

    def remember(self, connection: socket.socket) -> None:
        with self._lock:
            self._connections.add(connection)

    def forget(self, connection: socket.socket) -> None:
        with self._lock:
            self._connections.discard(connection)

    def drop_connections(self) -> None:
        with self._lock:
            for connection in self._connections:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride] - always ours

    def setup(self) -> None:
        super().setup()
        self.server.remember(self.connection)

    def finish(self) -> None:
        self.server.forget(self.connection)
        with contextlib.suppress(OSError):
            super().finish()

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", "0"))
        body = cast("JsonObject", json.loads(self.rfile.read(length) or b"{}"))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._send(self.server.model.choose(ChatRequest(body, headers)))

    def do_GET(self) -> None:
        listing = {"object": "list", "data": [{"id": "scripted", "object": "model"}]}
        self._send(Reply(json.dumps(listing)))

    def _send(self, reply: Reply) -> None:
        if reply.fate == "hang" or (reply.gate and not reply.gate.wait(timeout=60)):
            self._wait_for_client_to_leave()
            return
        payload = reply.body.encode()
        with contextlib.suppress(OSError):
            self.send_response(reply.status)
            self.send_header("content-type", reply.content_type)
            self.send_header("content-length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload[: len(payload) // 2] if reply.fate == "cut" else payload)
        self.close_connection = reply.fate == "cut"

    def _wait_for_client_to_leave(self) -> None:
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.recv(1, socket.MSG_PEEK)
        self.server.model.left.set()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Stay silent: a test prints what matters."""


def _completion(message: JsonObject, finish: str, characters: int) -> Reply:
    choice: JsonObject = {"index": 0, "message": message, "finish_reason": finish}
    return Reply(json.dumps(_envelope([choice], characters)))


def _tool_calls(wanted: list[tuple[str, str]]) -> Reply:
    tool_calls = [
        {"id": f"call_{place}", "type": "function", "function": {"name": tool, "arguments": text}}
        for place, (tool, text) in enumerate(wanted)
    ]
    message: JsonObject = {"role": "assistant", "content": None, "tool_calls": tool_calls}
    return _completion(message, "tool_calls", sum(len(text) for _, text in wanted))


def _envelope(choices: list[JsonObject], characters: int) -> JsonObject:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted",
        "choices": choices,
        "usage": {"prompt_tokens": 0, "completion_tokens": characters // 4, "total_tokens": 0},
    }


def _counted(reply: Reply, prompt_characters: int) -> Reply:
    """Fill in the prompt's tokens, which only the request tells."""
    if '"prompt_tokens": 0' not in reply.body:
        return reply
    body = cast("dict[str, dict[str, int]]", json.loads(reply.body))
    prompt = prompt_characters // 4
    body["usage"]["prompt_tokens"] = prompt
    body["usage"]["total_tokens"] = prompt + body["usage"]["completion_tokens"]
    return Reply(json.dumps(body), reply.status, reply.content_type, reply.fate, reply.gate)
