"""Peers in environments of their own: made once from pinned files, then run as processes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import venv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, cast

from pydantic import JsonValue

from benchmarks.errors import PeerError
from benchmarks.processes import Server, clean_environment, free_port, pss_mb

SCRIPTS = Path(__file__).resolve().parent / "peers"
PeerName = Literal["mcp-server-qdrant", "haystack", "llamaindex"]
PEERS: tuple[PeerName, ...] = ("mcp-server-qdrant", "haystack", "llamaindex")
Answer: TypeAlias = Mapping[str, JsonValue]

_FILES: Mapping[PeerName, str] = {
    "mcp-server-qdrant": "qdrant",
    "haystack": "haystack",
    "llamaindex": "llamaindex",
}
_INSTALL_SECONDS = 900.0
_RUN_SECONDS = 3600.0
_QUIET = {"ANONYMIZED_TELEMETRY": "false", "HAYSTACK_TELEMETRY_ENABLED": "false"}


@dataclass(frozen=True, slots=True)
class Peer:
    """An installed peer.

    Attributes:
        python: Interpreter of its environment.
        version: Of the package it is named after.
    """

    name: PeerName
    python: Path
    version: str

    def run(self, task: Mapping[str, JsonValue], work: Path) -> Answer:
        """Let its script do a task and return the answer.

        Raises:
            PeerError: It failed or took too long; carries the end of what it wrote.
        """
        order = _order(self.name, task, work)
        finished = _run([str(self.python), str(self._script), str(order)], _RUN_SECONDS, self.name)
        answer = Path(str(order).replace(".task", ".answer"))
        if finished.returncode or not answer.is_file():
            raise PeerError(f"{self.name} failed: {finished.stderr.strip()[-600:]}")
        return cast("Answer", json.loads(answer.read_text(encoding="utf-8")))

    def serve_and_run(self, task: Mapping[str, JsonValue], work: Path) -> Answer:
        """Start its server, let its callers do a task, and weigh the server at the end.

        Raises:
            PeerError: As for ``run``.
            BenchmarkError: The server does not come up.
        """
        port = free_port()
        full = {**task, "port": port}
        order = _order(self.name, full, work)
        server = Server(
            (str(self.python), str(self._script), "serve", str(order)),
            _QUIET,
            work / f"{_FILES[self.name]}-server.log",
            f"http://127.0.0.1:{port}/health-is-not-there",
        )
        server.start()
        try:
            answer = self.run(full, work)
            return {**answer, "pss_mb": round(pss_mb(server.pid), 1)}
        finally:
            server.stop()

    @property
    def _script(self) -> Path:
        return SCRIPTS / f"{_FILES[self.name]}_peer.py"


def open_peer(name: PeerName, work: Path) -> Peer:
    """Return a peer, installed at the first call.

    Raises:
        PeerError: Its packages cannot be had here.
    """
    folder = work / "peers" / _FILES[name]
    python = folder / "bin" / "python"
    lock = SCRIPTS / f"{_FILES[name]}.lock"
    stamp = folder / ".lock"
    if not stamp.is_file() or stamp.read_bytes() != lock.read_bytes():
        venv.create(folder, clear=True, with_pip=not _uv())
        _install(folder, python, lock, name)
        shutil.copyfile(lock, stamp)
    return Peer(name, python, _version(lock))


def _install(folder: Path, python: Path, lock: Path, name: PeerName) -> None:
    pinned = ["--require-hashes", "--no-deps", "-r", str(lock)]
    uv = _uv()
    command = (
        # Copies: a peer's tokenizer refuses to read files with more than one link.
        [uv, "pip", "install", "-q", "--link-mode", "copy", "--python", str(python), *pinned]
        if uv
        else [str(folder / "bin" / "pip"), "install", "-q", *pinned]
    )
    finished = _run(command, _INSTALL_SECONDS, name, clean=False)
    if finished.returncode:
        raise PeerError(f"{name} cannot be installed here: {finished.stderr.strip()[-300:]}")


def _uv() -> str:
    beside = Path(sys.executable).parent / "uv"
    return str(beside) if beside.is_file() else shutil.which("uv") or ""


def _version(lock: Path) -> str:
    wanted = ("mcp-server-qdrant==", "haystack-ai==", "llama-index-core==")
    for line in lock.read_text(encoding="utf-8").splitlines():
        if line.startswith(wanted):
            return line.split("==")[1].split(" ")[0]
    return ""


def _order(name: PeerName, task: Mapping[str, JsonValue], work: Path) -> Path:
    work.mkdir(parents=True, exist_ok=True)
    order = work / f"{_FILES[name]}.task.json"
    answer = Path(str(order).replace(".task", ".answer"))
    answer.unlink(missing_ok=True)
    order.write_text(json.dumps({**task, "out": str(answer)}), encoding="utf-8")
    return order


def _run(
    command: Sequence[str], seconds: float, name: PeerName, *, clean: bool = True
) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(  # noqa: S603 - pinned packages and our own scripts
            command,
            env=clean_environment(_QUIET) if clean else None,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PeerError(f"{name} cannot be run: {error}") from error
