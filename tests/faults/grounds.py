"""One installation for each thing that can fail, with a line to it that a test can break.

A ground is started while its line is ``absent``: every process has to come up without the thing.
"""

from __future__ import annotations

import itertools
import json
import shutil
import threading
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

import httpx
import yaml

from storage import migrate
from tests import scripted_gateway, scripted_model
from tests.e2e.installation import CORPUS, Installation, Process, pick_port
from tests.faults.proxy import FaultProxy, open_proxy
from tests.services import require_port

CLIENT_SECONDS = 60
# Far over what a healthy machine needs, far under what the client waits.
DEADLINES = {"VOUCH_KNOWLEDGE_TIMEOUT_SECONDS": "4", "VOUCH_REQUEST_TIMEOUT_SECONDS": "20"}
REDIS_PORT = 6379
_QUESTION = "How do I rotate the signing key?"
_OFF_CORPUS = "What is a prime number?"
_HEALS_WITHIN = 400
_PAUSE_SECONDS = 0.1


@dataclass
class Ground:
    """An API whose way to one thing leads over a line that breaks."""

    api: Process
    line: FaultProxy
    processes: list[Process]
    _count: itertools.count[int] = field(default_factory=itertools.count)

    def ask(self, question: str = _QUESTION) -> httpx.Response:
        """Ask something that no cache knows; the client's deadline is the proof of no hang."""
        with httpx.Client(timeout=CLIENT_SECONDS, trust_env=False) as client:
            text = f"{question} This is attempt {next(self._count)}."
            return client.post(f"{self.api.url}/ask", json={"question": text})

    def ask_off_corpus(self) -> httpx.Response:
        return self.ask(_OFF_CORPUS)

    def record_of(self, reply: httpx.Response) -> object:
        """Return what the permalink of an answer shows."""
        with httpx.Client(timeout=CLIENT_SECONDS, trust_env=False) as client:
            return client.get(f"{self.api.url}/asks/{reply.json()['id']}").json()

    def heal(self) -> httpx.Response:
        """Ask until it is answered as if nothing had been."""
        pause = threading.Event()
        for _ in range(_HEALS_WITHIN):
            reply = self.ask()
            if reply.status_code == 200 and not reply.json()["degraded"]:
                return reply
            # It heals at its next look, which nothing announces.
            pause.wait(_PAUSE_SECONDS)
        raise AssertionError("it did not heal: " + self.ask().text[:500])

    def all_alive(self) -> bool:
        return all(p.running is not None and p.running.poll() is None for p in self.processes)


Opener: TypeAlias = Callable[[Path], AbstractContextManager[Ground]]


def port_of(url: str) -> int:
    port = urlsplit(url).port
    assert port is not None
    return port


@contextmanager
def started(
    made: Installation,
    line: FaultProxy,
    *,
    mcp: dict[str, str] | None = None,
    api: dict[str, str] | None = None,
) -> Generator[Ground]:
    """Start tool server and API with these variables over the usual ones."""
    made.mcp.environment = {**made.mcp.environment, **(mcp or {})}
    asking = made.api(**DEADLINES, **(api or {}))
    with ExitStack() as stack:
        for process in (made.mcp, asking):
            process.start(alive_is_enough=True)
            stack.callback(process.stop)
        yield Ground(asking, line, [made.mcp, asking])


@contextmanager
def model(folder: Path) -> Generator[Ground]:
    with scripted_model.serve() as upstream, open_proxy(port_of(upstream.url), "absent") as line:
        variables = {
            "OPENAI_BASE_URL": f"http://127.0.0.1:{line.port}/v1",
            "VOUCH_MODEL": "scripted",
            "VOUCH_AGENT_SECONDS": "4",
        }
        with started(Installation(folder), line, api=variables) as ground:
            yield ground


@contextmanager
def gateway(folder: Path) -> Generator[Ground]:
    plan = scripted_gateway.searches(
        None, then="Run `harbor keys rotate` to rotate the signing key [{first}]."
    )
    made = Installation(folder)
    with scripted_gateway.serve(plan) as upstream, open_proxy(port_of(upstream.url)) as line:
        line.be("absent")
        variables = {
            "VOUCH_AGENT": "gateway",
            "OPENAI_BASE_URL": f"http://127.0.0.1:{line.port}/v1",
            "VOUCH_GATEWAY_MCP_URL": f"{made.mcp.url}/mcp",
            "VOUCH_AGENT_SECONDS": "4",
        }
        with started(made, line, api=variables) as ground:
            yield ground


@contextmanager
def tool_server(folder: Path) -> Generator[Ground]:
    made = Installation(folder)
    with open_proxy(port_of(made.mcp.url), "absent") as line:
        url = {"VOUCH_MCP_URL": f"http://127.0.0.1:{line.port}"}
        with started(made, line, api=url) as ground:
            yield ground


@contextmanager
def embedding_service(folder: Path) -> Generator[Ground]:
    service = Installation(folder).embeddings()
    service.start(alive_is_enough=True)
    try:
        with open_proxy(port_of(service.url), "absent") as line:
            variables = {
                "VOUCH_EMBEDDING_URL": f"http://127.0.0.1:{line.port}",
                "VOUCH_EMBEDDING_TIMEOUT_SECONDS": "2",
            }
            with started(Installation(folder), line, mcp=variables) as ground:
                yield ground
    finally:
        service.stop()


@contextmanager
def index(folder: Path) -> Generator[Ground]:
    """A tool server whose index is on a Qdrant server."""
    made = Installation(folder)
    port = pick_port()
    server = Process(
        "tests.faults.qdrant_server", f"http://127.0.0.1:{port}", {}, folder / "qdrant.log",
        (str(port),),
    )  # fmt: skip
    server.start(alive_is_enough=True)
    try:
        made.ingest(CORPUS, QDRANT_URL=server.url)
        with open_proxy(port, "absent") as line:
            variables = {
                "QDRANT_URL": f"http://127.0.0.1:{line.port}",
                "VOUCH_QDRANT_TIMEOUT_SECONDS": "1",
            }
            with started(made, line, mcp=variables) as ground:
                yield ground
    finally:
        server.stop()


class _Rerank(BaseHTTPRequestHandler):
    """Judges every passage alike, so that the fused order stands."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        ranked = [{"index": n, "score": -float(n)} for n in range(len(body["texts"]))]
        payload = json.dumps(ranked).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Stay silent."""


@contextmanager
def reranker(folder: Path) -> Generator[Ground]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Rerank)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        with open_proxy(server.server_address[1], "absent") as line:
            rerank = {"model": f"http://127.0.0.1:{line.port}/rerank", "timeout_seconds": 1.0}
            profiles = {"default": {"summary": "Reranked.", "search": {"reranker": rerank}}}
            path = folder / "profiles.yaml"
            path.write_text(yaml.safe_dump(profiles), encoding="utf-8")
            with started(
                Installation(folder), line, mcp={"VOUCH_PROFILES_FILE": str(path)}
            ) as ground:
                yield ground
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def database(url: str, policy: Literal["refuse", "spool"]) -> Opener:
    """Return the ground of a PostgreSQL database that API and tool server share."""

    @contextmanager
    def opened(folder: Path) -> Generator[Ground]:
        migrate.upgrade(url)
        with open_proxy(urlsplit(url).port or 5432, "absent") as line:
            through = url.replace(f":{urlsplit(url).port or 5432}/", f":{line.port}/")
            variables = {
                "VOUCH_DATABASE_URL": through,
                "VOUCH_DATABASE_TIMEOUT_SECONDS": "1",
                "VOUCH_RECORD_POLICY": policy,
            }
            with started(Installation(folder), line, mcp=variables, api=variables) as ground:
                yield ground

    return opened


@contextmanager
def redis(folder: Path) -> Generator[Ground]:
    """The limits of API and tool server are in a Redis that they share."""
    require_port(REDIS_PORT, "Redis on loopback")
    with open_proxy(REDIS_PORT, "absent") as line:
        url = {"VOUCH_REDIS_URL": f"redis://127.0.0.1:{line.port}/0"}
        often = {"VOUCH_REQUESTS_PER_MINUTE_PER_ADDRESS": "1000000"}
        with started(Installation(folder), line, mcp=url, api=url | often) as ground:
            yield ground


def copied(prepared: Path, folder: Path) -> Path:
    """Return a copy of a prepared installation."""
    shutil.copytree(prepared, folder)
    return folder
