"""A whole installation of real processes: index, tool server and API."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from storage import migrate
from storage.database import database_url

ROOT = Path(__file__).resolve().parents[2]
CORPUS = Path(__file__).parent / "corpus"
SIGNING_KEY = "a-signing-key-for-tests-only"
_UP_SECONDS = 150.0
_DOWN_SECONDS = 15.0


def pick_port() -> int:
    """Return a loopback port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Process:
    """One process of the installation.

    Attributes:
        module: Run as ``python -m module``.
        url: Where it answers.
        environment: What it sees beside the path.
        arguments: Behind the module.
    """

    module: str
    url: str
    environment: Mapping[str, str]
    log: Path
    arguments: tuple[str, ...] = ()
    running: subprocess.Popen[bytes] | None = None

    def start(self, *, alive_is_enough: bool = False) -> None:
        """Start it and wait until it is ready.

        Args:
            alive_is_enough: Wait only until it answers, whatever it says of itself.

        Raises:
            RuntimeError: It ended or did not come up; carries its log.
        """
        with self.log.open("ab") as sink:
            self.running = subprocess.Popen(
                [sys.executable, "-m", self.module, *self.arguments],
                env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **self.environment},
                stdout=sink,
                stderr=sink,
            )
        deadline = time.monotonic() + _UP_SECONDS
        with httpx.Client(timeout=5, trust_env=False) as client:
            while time.monotonic() < deadline and self.running.poll() is None:
                try:
                    health = client.get(f"{self.url}/healthz")
                    # The tool server answers before its index is open, and says so.
                    is_ready = alive_is_enough or health.json()["status"] == "ok"
                    if health.is_success and is_ready:
                        return
                except httpx.HTTPError:
                    pass
                # Waiting for a process to come up: there is no event for it.
                time.sleep(0.05)
        self.stop()
        raise RuntimeError(f"{self.module} did not come up:\n{self.log.read_text()[-3000:]}")

    @property
    def pid(self) -> int:
        """Id of the running process."""
        assert self.running is not None
        return self.running.pid

    def kill(self) -> None:
        """End it without a chance to say goodbye."""
        if self.running is not None:
            self.running.kill()
            self.running.wait(_DOWN_SECONDS)

    def stop(self) -> None:
        """Ask it to end."""
        if self.running is None or self.running.poll() is not None:
            return
        self.running.send_signal(signal.SIGTERM)
        try:
            self.running.wait(_DOWN_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()


@dataclass
class Installation:
    """Data folder, index and tool server; APIs are started on top."""

    folder: Path
    mcp: Process = field(init=False)

    def __post_init__(self) -> None:
        port = pick_port()
        self.mcp = Process(
            "mcp_server",
            f"http://127.0.0.1:{port}",
            {
                "VOUCH_DATA_DIR": str(self.folder),
                "VOUCH_MCP_PORT": str(port),
                "VOUCH_SIGNING_KEY": SIGNING_KEY,
                "VOUCH_MCP_TOKEN": "a-fixed-token",
                "VOUCH_MCP_CALLS_PER_MINUTE": "1000000",
            },
            self.folder / "mcp.log",
        )

    def prepare(self) -> None:
        """Migrate the databases and build the index."""
        self.migrate()
        self.ingest(CORPUS)

    def migrate(self) -> None:
        """Make the tables of both databases."""
        for name in ("vouch", "audit"):
            migrate.upgrade(database_url("", self.folder, name))

    def ingest(self, source: Path, **environment: str) -> None:
        """Build and publish an index of a folder."""
        subprocess.run(
            [sys.executable, "-m", "ingestion", str(source)],
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": str(ROOT),
                "VOUCH_DATA_DIR": str(self.folder),
                **environment,
            },
            check=True,
            capture_output=True,
            timeout=120,
        )

    def embeddings(self, **environment: str) -> Process:
        """Return an embedding service, not started."""
        port = pick_port()
        return Process(
            "retrieval.embedding_service",
            f"http://127.0.0.1:{port}",
            {
                "VOUCH_DATA_DIR": str(self.folder),
                "VOUCH_EMBEDDINGS_PORT": str(port),
                **environment,
            },
            self.folder / f"embeddings-{port}.log",
        )

    def api(self, **environment: str) -> Process:
        """Return an API on this installation, not started."""
        port = pick_port()
        return Process(
            "backend",
            f"http://127.0.0.1:{port}",
            {
                "VOUCH_DATA_DIR": str(self.folder),
                "VOUCH_PORT": str(port),
                "VOUCH_MCP_URL": self.mcp.url,
                "VOUCH_SIGNING_KEY": SIGNING_KEY,
                **environment,
            },
            self.folder / f"api-{port}.log",
        )
