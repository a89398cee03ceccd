"""Starting and idling: seconds to ready, processor seconds spent on it, memory of each process."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.corpus import index_of, open_corpus
from benchmarks.processes import (
    Server,
    clean_environment,
    cpu_seconds,
    descendants,
    free_port,
    pss_mb,
)
from benchmarks.scale import Scale
from benchmarks.timing import Times, summarise

_ENTRIES = ("mcp_server.app", "backend.app", "ingestion.worker", "cli.up", "cli.main")
_SETTLE_SECONDS = 3.0
_STARTS = 3
_NAMES = {
    "mcp_server": "tool server",
    "backend": "API",
    "ingestion.worker": "worker",
    "cli.main": "launcher",
}


@dataclass(frozen=True, slots=True)
class StartPart:
    """What starting costs and what stays.

    Attributes:
        ready: Milliseconds from the command to the first healthy answer, over several starts.
        cpu_seconds: Of all processes until ready, median.
        memory_mb: Proportional set size by process, idle with the index open.
        import_ms: Processor milliseconds of importing each entry, interpreter included.
    """

    chunks: int
    ready: Times
    cpu_seconds: float
    memory_mb: Mapping[str, float]
    import_ms: Mapping[str, float]

    @property
    def whole_mb(self) -> float:
        """Memory of the whole stack."""
        return round(sum(self.memory_mb.values()), 1)


async def measure_start(scale: Scale, work: Path) -> StartPart:
    """Start ``vouch up`` over an index that exists, and weigh what runs."""
    corpus = await open_corpus(work)
    data_dir = await index_of(corpus, scale.ask_chunks, work)
    ready: list[float] = []
    spent: list[float] = []
    memory: Mapping[str, float] = {}
    await asyncio.to_thread(_start_once, data_dir)  # migrations, secrets, files in the page cache
    for _ in range(_STARTS):
        seconds, cpu, memory = await asyncio.to_thread(_start_once, data_dir)
        ready.append(seconds * 1000)
        spent.append(cpu)
    imports = {entry: await asyncio.to_thread(_import_ms, entry) for entry in _ENTRIES}
    cpu = sorted(spent)[len(spent) // 2]
    return StartPart(scale.ask_chunks, summarise(ready), round(cpu, 2), memory, imports)


def _start_once(data_dir: Path) -> tuple[float, float, Mapping[str, float]]:
    port, mcp_port = free_port(), free_port()
    server = Server(
        (sys.executable, "-m", "cli.main", "up"),
        {
            "VOUCH_DATA_DIR": str(data_dir),
            "VOUCH_PORT": str(port),
            "VOUCH_MCP_PORT": str(mcp_port),
            "HOME": str(data_dir),
        },
        data_dir / "up.out",
        f"http://127.0.0.1:{port}/healthz",
    )
    seconds = server.start()
    try:
        cpu = sum(cpu_seconds(pid) for pid in (server.pid, *descendants(server.pid)))
        time.sleep(_SETTLE_SECONDS)
        pids = (server.pid, *descendants(server.pid))
        memory = {_name(pid): round(pss_mb(pid), 1) for pid in pids}
    finally:
        server.stop()
    return seconds, cpu, memory


def _name(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8").split("\0")
    except OSError:
        return f"process {pid}"
    return next((_NAMES[word] for word in words if word in _NAMES), f"{words[-2:]} {pid}")


def _import_ms(entry: str) -> float:
    code = f"import {entry}, time; print(time.process_time() * 1000)"
    finished = subprocess.run(  # noqa: S603 - our own interpreter and modules
        [sys.executable, "-c", code],
        env=clean_environment({}),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return round(float(finished.stdout), 0)
