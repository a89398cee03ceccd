"""Child processes end with their launcher and come back when they die alone."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cli.children import Child, ChildFailedError, Family

_ROOT = Path(__file__).resolve().parents[2]
_SERVER = """
import http.server, os, sys
from service.lifeline import follow_lifeline
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(str(os.getpid()).encode())
    def log_message(self, *a): pass
follow_lifeline(enabled=os.environ.get("VOUCH_LIFELINE") == "1")
http.server.HTTPServer(("127.0.0.1", int(os.environ["PORT"])), H).serve_forever()
"""


def _child(folder: Path, body: str, port: int) -> Child:
    (folder / "tiny_server.py").write_text(body)
    search_path = f"{folder}:{_ROOT}"
    return Child(
        module="tiny_server",
        environment={"PATH": os.environ["PATH"], "PORT": str(port), "PYTHONPATH": search_path},
        health_url=f"http://127.0.0.1:{port}/",
        log=folder / "tiny.log",
    )


async def test_dead_child_is_started_again_until_stopped(tmp_path: Path, free_port: int) -> None:
    said: list[str] = []
    child = _child(tmp_path, _SERVER, free_port)
    family = Family([child], said.append)
    await family.start()
    watching = asyncio.create_task(family.watch())
    assert child.process is not None
    first = child.process.pid
    os.kill(first, signal.SIGKILL)
    while child.process.pid == first:  # noqa: ASYNC110  # it is the restart itself we wait for
        await asyncio.sleep(0.01)
    await child.wait_ready()
    await family.stop()
    await watching
    assert child.process.returncode is not None
    assert any("starting it again" in line for line in said)


async def test_child_that_cannot_start_is_reported_with_its_log(
    tmp_path: Path, free_port: int
) -> None:
    child = _child(tmp_path, "raise SystemExit('no model here')", free_port)
    with pytest.raises(ChildFailedError, match="no model here"):
        await Family([child], lambda _: None).start()


def test_child_ends_when_its_launcher_is_gone(tmp_path: Path, free_port: int) -> None:
    (tmp_path / "tiny_server.py").write_text(_SERVER)
    environment = {
        "PATH": os.environ["PATH"], "PORT": str(free_port), "VOUCH_LIFELINE": "1",
        "PYTHONPATH": f"{tmp_path}:{_ROOT}",
    }  # fmt: skip
    with subprocess.Popen(
        [sys.executable, "-m", "tiny_server"], stdin=subprocess.PIPE, env=environment
    ) as server:
        assert server.stdin is not None
        server.stdin.close()
        assert server.wait(timeout=30) == -signal.SIGTERM
