"""Serves an application from a thread of this process, on a free port."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from dataclasses import dataclass

import uvicorn
from fastapi import FastAPI

_START_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Serving:
    """A running application.

    Attributes:
        url: Its address, without a slash at the end.
    """

    url: str
    loop: asyncio.AbstractEventLoop

    def run(self, action: Callable[[], object]) -> None:
        """Run something in the application's own loop, and wait until it has run."""
        ran = threading.Event()

        def step() -> None:
            action()
            ran.set()

        self.loop.call_soon_threadsafe(step)
        assert ran.wait(_START_SECONDS)

    def wait(self, happening: Coroutine[object, object, object]) -> None:
        """Wait until something has happened in the application's own loop."""
        asyncio.run_coroutine_threadsafe(happening, self.loop).result(_START_SECONDS)


@contextmanager
def serve(make_app: Callable[[], FastAPI]) -> Generator[Serving]:
    """Serve an application made in the serving thread; it is stopped at the end of the block."""
    listener = socket.create_server(("127.0.0.1", 0))
    loops: list[asyncio.AbstractEventLoop] = []
    servers: list[uvicorn.Server] = []
    ready = threading.Event()

    async def run() -> None:
        server = uvicorn.Server(
            uvicorn.Config(
                make_app(),
                log_config=None,
                ws="none",
                # As in the real process: which proxies are believed is up to the application.
                proxy_headers=False,
                timeout_graceful_shutdown=2,
            )
        )
        loops.append(asyncio.get_running_loop())
        servers.append(server)
        asyncio.get_running_loop().call_soon(ready.set)
        await server.serve(sockets=[listener])

    thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
    thread.start()
    assert ready.wait(_START_SECONDS)
    port = listener.getsockname()[1]
    try:
        yield Serving(url=f"http://127.0.0.1:{port}", loop=loops[0])
    finally:
        servers[0].should_exit = True
        thread.join(_START_SECONDS)
        listener.close()
