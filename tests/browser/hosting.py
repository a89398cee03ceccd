"""A page of somebody else, on an origin of its own, that carries the widget."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Host:
    """Serves one page.

    Attributes:
        origin: Its address.
        body: Of the page; may be changed while it is served.
        policy: Its content security policy.
    """

    origin: str
    body: str = ""
    policy: str = ""
    asked: list[str] = field(default_factory=list[str])

    def embed(self, vouch: str, attributes: str = "") -> None:
        """Carry the widget of a service, under a policy that allows nothing else."""
        self.policy = f"default-src 'none'; script-src {vouch}; frame-src {vouch}"
        self.body = (
            "<!doctype html><html lang='en'><title>Elsewhere</title><h1>Elsewhere</h1>"
            f"<script src='{vouch}/widget.js' {attributes}></script><p>After it.</p>"
        )


@contextmanager
def host() -> Generator[Host]:
    """Serve a page on a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hosted.asked.append(self.path)
            body = hosted.body.encode() if self.path == "/" else b""
            self.send_response(200 if body else 404)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.send_header("content-length", str(len(body)))
            if hosted.policy:
                self.send_header("content-security-policy", hosted.policy)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hosted = Host(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hosted
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
