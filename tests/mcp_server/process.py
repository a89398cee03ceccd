"""The tool server as a process of its own, started, killed and started again."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from storage.migrate import upgrade
from tests.mcp_server.serving import KEY, TOKEN

_READY_SECONDS = 60.0


@dataclass
class ServerProcess:
    """``python -m mcp_server`` on one port over one data folder.

    Attributes:
        log: What the process wrote.
    """

    data_dir: Path
    port: int
    process: asyncio.subprocess.Process | None = field(default=None, init=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        return (self.data_dir / "mcp.out").read_text()

    async def start(self) -> None:
        """Start the process and wait until it answers."""
        self.data_dir.mkdir(parents=True, exist_ok=True)
        await asyncio.to_thread(upgrade, f"sqlite:///{self.data_dir / 'audit.db'}")
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(Path.cwd()),
            "VOUCH_DATA_DIR": str(self.data_dir),
            "VOUCH_MCP_PORT": str(self.port),
            "VOUCH_MCP_TOKEN": TOKEN,
            "VOUCH_SIGNING_KEY": KEY,
            "VOUCH_BUILD_CHECK_SECONDS": "0.1",
        }
        with (self.data_dir / "mcp.out").open("ab") as sink:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "mcp_server", env=environment, stdout=sink, stderr=sink
            )
        async with asyncio.timeout(_READY_SECONDS):
            await self._wait_for("status")

    async def wait_for_index(self) -> None:
        """Wait until the index is served."""
        async with asyncio.timeout(_READY_SECONDS):
            await self._wait_for("ok")

    async def kill(self) -> None:
        """End the process as ``kill -9`` does."""
        await self._end(signal.SIGKILL)

    async def stop(self) -> int:
        """End the process gracefully and return its exit code."""
        return await self._end(signal.SIGTERM)

    def pause(self) -> None:
        """Stop the process where it is, so that it hangs with its port open."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let a paused process go on."""
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)

    async def _end(self, how: signal.Signals) -> int:
        assert self.process is not None
        if self.process.returncode is None:
            self.process.send_signal(how)
        return await self.process.wait()

    async def _wait_for(self, word: str) -> None:
        async with httpx.AsyncClient(trust_env=False, timeout=2) as client:
            while True:
                assert self.process is not None
                assert self.process.returncode is None, self.log
                try:
                    health = await client.get(f"{self.url}/healthz")
                    if word == "status" or health.json()["checks"]["index"]["status"] == word:
                        return
                except httpx.TransportError:
                    pass
                await asyncio.sleep(0.05)  # the process says nothing while it starts
