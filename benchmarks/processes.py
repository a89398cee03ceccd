"""Processes under measurement: started, waited for, weighed and ended."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import httpx

from benchmarks.errors import BenchmarkError

ROOT = Path(__file__).resolve().parent.parent
_UP_SECONDS = 90.0
_DOWN_SECONDS = 15.0
_POLL_SECONDS = 0.02


def free_port() -> int:
    """Return a loopback port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def pss_mb(pid: int) -> float:
    """Return the proportional set size of a process in megabytes; 0 where the system has none."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)


def peak_mb() -> float:
    """Return the largest resident size of this process in megabytes; 0 where it is not told.

    Not what ``getrusage`` says: a process starts with the figure of the one that started it.
    """
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:")), 0.0)


def cpu_seconds(pid: int) -> float:
    """Return processor seconds a process has used so far; 0 where the system does not say."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def descendants(pid: int) -> list[int]:
    """Return the process ids below a process, in no particular order."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text(encoding="ascii", errors="replace").rsplit(")", 1)[1].split()
        except OSError:  # it ended while it was looked at
            continue
        children.setdefault(int(fields[1]), []).append(int(entry.parent.name))
    found: list[int] = []
    waiting = [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


@dataclass
class Server:
    """One process that answers over HTTP.

    Attributes:
        url: Where its health is asked for.
    """

    command: Sequence[str]
    environment: Mapping[str, str]
    log: Path
    url: str
    running: subprocess.Popen[bytes] | None = None

    @classmethod
    def module(cls, module: str, url: str, environment: Mapping[str, str], log: Path) -> Self:
        """Return a module of this project, run by this interpreter."""
        return cls((sys.executable, "-m", module), environment, log, f"{url}/healthz")

    @property
    def pid(self) -> int:
        """Id of the running process."""
        if self.running is None:
            raise BenchmarkError(f"{self.command[-1]} is not running")
        return self.running.pid

    def start(self) -> float:
        """Start it; returns seconds until it was ready.

        Raises:
            BenchmarkError: It ended or did not come up.
        """
        self.log.parent.mkdir(parents=True, exist_ok=True)
        started = time.perf_counter()
        with self.log.open("ab") as sink:
            self.running = subprocess.Popen(  # noqa: S603 - our own modules and pinned peers
                self.command, env=clean_environment(self.environment), stdout=sink, stderr=sink
            )
        with httpx.Client(timeout=5, trust_env=False) as client:
            while time.perf_counter() - started < _UP_SECONDS and self.running.poll() is None:
                if _is_ready(client, self.url):
                    return time.perf_counter() - started
                time.sleep(_POLL_SECONDS)
        self.stop()
        raise BenchmarkError(f"{' '.join(self.command)} did not come up; see {self.log}")

    def stop(self) -> None:
        """Ask it to end, and end it when it does not."""
        if self.running is None or self.running.poll() is not None:
            return
        self.running.send_signal(signal.SIGTERM)
        try:
            self.running.wait(_DOWN_SECONDS)
        except subprocess.TimeoutExpired:
            self.running.kill()
            self.running.wait(_DOWN_SECONDS)


def clean_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Return an environment with nothing in it but the path and what is given."""
    return {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **extra}


def _is_ready(client: httpx.Client, url: str) -> bool:
    try:
        answer = client.get(url)
    except httpx.HTTPError:
        return False
    # The tool server answers before its index is open, and says so. A peer has no such page.
    if answer.headers.get("content-type", "").startswith("application/json"):
        return answer.json().get("status", "ok") == "ok"
    return True
