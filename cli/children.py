"""The processes of one installation: started in order, watched, restarted, stopped in reverse."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from service.errors import VouchError
from service.lifeline import LIFELINE_VARIABLE

_GRACE_SECONDS = 10.0
_READY_SECONDS = 60.0
_POLL_SECONDS = 0.1
_STABLE_SECONDS = 30.0
_MOST_FAST_DEATHS = 5


class ChildFailedError(VouchError):
    """A process would not start, or died too often."""

    code = "child_failed"


@dataclass(slots=True)
class Child:
    """One process: ``python -m module``, healthy when its address answers.

    Attributes:
        module: Python package that is run.
        environment: Exactly what the process sees.
        health_url: Answers below 500 when the process serves; None when it has no address.
        log: File its output is appended to.
    """

    module: str
    environment: Mapping[str, str]
    health_url: str | None
    log: Path
    process: asyncio.subprocess.Process | None = field(default=None, init=False)
    started: float = field(default=0.0, init=False)

    async def start(self) -> None:
        """Start the process; it ends when this one does."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as sink:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", self.module,
                env={**self.environment, LIFELINE_VARIABLE: "1"},
                stdin=asyncio.subprocess.PIPE, stdout=sink, stderr=sink, start_new_session=True,
            )  # fmt: skip
        self.started = time.monotonic()

    async def wait_ready(self) -> None:
        """Wait until the process answers.

        Raises:
            ChildFailedError: It ended, or did not answer in time; carries the end of its log.
        """
        if self.health_url is None:
            return
        async with httpx.AsyncClient(timeout=2.0, trust_env=False) as client:
            while time.monotonic() - self.started < _READY_SECONDS:
                if self.process is None or self.process.returncode is not None:
                    break
                with contextlib.suppress(httpx.HTTPError):
                    if (await client.get(self.health_url)).is_success:
                        return
                await asyncio.sleep(_POLL_SECONDS)
        raise ChildFailedError(f"{self.module} did not come up. {self.log} ends:\n{self.tail()}")

    async def stop(self) -> None:
        """Ask the process to finish, and end it when it does not."""
        process = self.process
        if process is None or process.returncode is not None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(process.wait(), _GRACE_SECONDS)
        except TimeoutError:
            process.kill()
            await process.wait()

    def tail(self, lines: int = 12) -> str:
        """Return the last lines of the log."""
        if not self.log.exists():
            return "(no log)"
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


class Family:
    """All processes of one installation.

    Args:
        children: In the order they are started.
        say: Prints one line for the person at the terminal.
    """

    def __init__(self, children: list[Child], say: Callable[[str], None]) -> None:
        self._children = children
        self._say = say
        self._stopping = asyncio.Event()

    async def start(self) -> None:
        """Start them one after the other, each once the one before it answers.

        The API is reachable only when the tool server has looked at its index, so that whoever
        asks as soon as the address answers gets an answer.

        Raises:
            ChildFailedError: One did not come up; the others are stopped.
        """
        try:
            for child in self._children:
                await child.start()
                await child.wait_ready()
        except ChildFailedError:
            await self.stop()
            raise

    async def watch(self) -> None:
        """Keep them running until ``stop``: one that dies is started again.

        Raises:
            ChildFailedError: One died several times within seconds of its start.
        """
        async with asyncio.TaskGroup() as group:
            for child in self._children:
                group.create_task(self._keep(child))

    async def stop(self) -> None:
        """Stop all, the last started first."""
        self._stopping.set()
        for child in reversed(self._children):
            await child.stop()

    async def _keep(self, child: Child) -> None:
        deaths = 0
        while not self._stopping.is_set() and child.process is not None:
            code = await child.process.wait()
            if self._stopping.is_set():
                return
            lived = time.monotonic() - child.started
            deaths = 1 if lived > _STABLE_SECONDS else deaths + 1
            if deaths > _MOST_FAST_DEATHS:
                raise ChildFailedError(
                    f"{child.module} died {deaths} times. {child.log} ends:\n{child.tail()}"
                )
            self._say(f"{child.module} ended with {code}; starting it again")
            await asyncio.sleep(min(_POLL_SECONDS * 2**deaths, 5.0))
            await child.start()
