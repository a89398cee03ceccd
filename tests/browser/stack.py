"""The whole product as its user starts it: an ingested folder, the tool server and the API."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from pydoc_data.topics import topics

import httpx

from tests.environment import environment

ROOT = Path(__file__).resolve().parents[2]
TOPICS = ("with", "context-managers", "try", "comparisons")
CONFIGURATION = """# Configuration

## Ports

The page listens on port 8000 by default. Set the variable VOUCH_PORT to serve it on another port.
"""
_INGEST_SECONDS = 300
_STOP_SECONDS = 30
_READY_SECONDS = 60
_READY = "is ready"


def write_corpus(folder: Path) -> Path:
    """Write a few real pages to ask about; returns the folder."""
    folder.mkdir(parents=True)
    for topic in TOPICS:
        (folder / f"{topic}.md").write_text(topics[topic], encoding="utf-8")
    (folder / "configuration.md").write_text(CONFIGURATION, encoding="utf-8")
    return folder


def ingest(corpus: Path, data_dir: Path) -> None:
    """Build and publish the index of a corpus."""
    with environment(VOUCH_DATA_DIR=str(data_dir)):
        finished = subprocess.run(
            [sys.executable, "-m", "ingestion", str(corpus)],
            cwd=ROOT,
            timeout=_INGEST_SECONDS,
            capture_output=True,
            text=True,
            check=False,
        )
    assert finished.returncode == 0, finished.stderr


@contextmanager
def run_stack(data_dir: Path, settings: Mapping[str, str]) -> Generator[str]:
    """Run ``vouch up`` over an index for the length of a with block; yields the address."""
    port = free_port()
    with environment(
        VOUCH_DATA_DIR=str(data_dir),
        VOUCH_PORT=str(port),
        VOUCH_MCP_PORT=str(free_port()),
        **settings,
    ):
        variables = dict(os.environ)
    process = subprocess.Popen(
        [sys.executable, "-m", "cli.main", "up"],
        cwd=ROOT,
        env=variables,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        said: list[str] = []
        for line in process.stderr:
            said.append(line)
            if _READY in line:
                break
        assert said, "nothing was said before the end"
        assert _READY in said[-1], "".join(said)
        wait_ready(f"http://127.0.0.1:{port}/readyz")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=_STOP_SECONDS)


def wait_ready(url: str) -> None:
    """Wait until an address answers with success, which may be a while after the port is open."""
    deadline = time.monotonic() + _READY_SECONDS
    pause = threading.Event()
    with httpx.Client(timeout=5.0, trust_env=False) as client:
        while not client.get(url).is_success:
            assert time.monotonic() < deadline, f"{url} never became ready"
            pause.wait(0.1)


def free_port() -> int:
    """Return a loopback port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
