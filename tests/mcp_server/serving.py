"""Runs the real tool server over real HTTP on a free loopback port."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import uvicorn
from prometheus_client import CollectorRegistry
from pydantic import SecretStr

from knowledge.client import KnowledgeClient
from mcp_server.app import create_app
from mcp_server.settings import McpSettings
from service.tokens import Branch, Claims, Scope, TokenSigner
from tests.mcp_server.fakes import FakeEngine, FakeOpener, FakeSink

TOKEN = "fixed-token-for-tests"
KEY = "signing-key-for-tests-0123456789"


@dataclass(frozen=True)
class Running:
    """A tool server that is up.

    Attributes:
        url: Its root address.
    """

    url: str
    port: int
    opener: FakeOpener
    sink: FakeSink

    @property
    def engine(self) -> FakeEngine:
        assert self.opener.engine is not None
        return self.opener.engine


def settings(**changes: object) -> McpSettings:
    """Return settings with both kinds of token and a quick look at the published build."""
    values: dict[str, object] = {
        "mcp_token": SecretStr(TOKEN),
        "signing_key": SecretStr(KEY),
        "build_check_seconds": 0.05,
    }
    return McpSettings.model_validate(values | changes)


def claims(
    branch: Branch = "agent",
    *,
    ask_id: str = "ask-1",
    labels: tuple[str, ...] = (),
    scopes: tuple[Scope, ...] = ("search",),
    build: str = "",
    source: str = "",
) -> Claims:
    """Return claims that do not expire during a test."""
    return Claims(
        ask_id=ask_id,
        branch=branch,
        scopes=scopes,
        labels=labels,
        build=build,
        source=source,
        expires_at=4_000_000_000.0,
    )


def sign(given: Claims) -> str:
    """Return the token of these claims, signed with the tests' key."""
    return TokenSigner(KEY).sign(given)


def connect(url: str, *, timeout_seconds: float = 10.0) -> KnowledgeClient:
    """Return a client with the tests' key."""
    return KnowledgeClient(url, TokenSigner(KEY), timeout_seconds=timeout_seconds)


@asynccontextmanager
async def serve(
    *,
    opener: FakeOpener | None = None,
    sink: FakeSink | None = None,
    port: int = 0,
    registry: CollectorRegistry | None = None,
    **changes: object,
) -> AsyncGenerator[Running]:
    """Serve until the end of the block, with an engine from the start unless told otherwise."""
    opener = opener or FakeOpener(FakeEngine())
    sink = sink or FakeSink()
    app = create_app(settings(**changes), opener=opener, sink=sink, registry=registry)
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    server = uvicorn.Server(
        uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=1)
    )
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        while not server.started:
            if task.done():
                task.result()
            await asyncio.sleep(0.005)
        bound = listener.getsockname()[1]
        yield Running(f"http://127.0.0.1:{bound}", bound, opener, sink)
    finally:
        server.should_exit = True
        await task
