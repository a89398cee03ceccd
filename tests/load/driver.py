"""Clients that ask one question after another, and what came of it.

A client that is turned away waits for as long as it was told, as a well-behaved one does.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

import httpx
import psutil

QUESTIONS = (
    "How do I rotate the signing key?",
    "How long are backups kept?",
    "Which port does the console listen on?",
    "What is a prime number?",
)
_CLIENT_SECONDS = 120.0
_SAMPLE_SECONDS = 1.0
_MEGABYTE = 1 << 20


@dataclass
class Outcome:
    """What came of a run.

    Attributes:
        replies: Number by status, whether it says when to come back, and code.
        seconds: Of each answered ask, in the order they ended.
        memory: Megabytes resident of each process, once a second.
    """

    replies: Counter[tuple[int, bool, str]] = field(default_factory=Counter[tuple[int, bool, str]])
    seconds: list[float] = field(default_factory=list[float])
    memory: dict[str, list[float]] = field(default_factory=dict[str, list[float]])

    @property
    def statuses(self) -> set[int]:
        return {status for status, _, _ in self.replies}

    def without_time(self) -> set[int]:
        """Return statuses of refusals that did not say when to come back."""
        return {status for status, has_time, _ in self.replies if status != 200 and not has_time}

    def report(self) -> str:
        """Return counts, latency and memory in lines for people."""
        ordered = sorted(self.seconds) or [0.0]
        lines = [
            f"  {count:6}  {status} {code}"
            for (status, _, code), count in sorted(self.replies.items())
        ]
        lines += [
            f"  p{share * 100:.0f} {ordered[int(share * (len(ordered) - 1))]:.2f} s"
            for share in (0.5, 0.99)
        ]
        for name, values in self.memory.items():
            quarter = values[len(values) // 4 :] or [0.0]
            lines.append(
                f"  {name}: {values[0]:.0f} MB at the start, {max(values):.0f} at most, "
                f"{quarter[0]:.0f} after a quarter, {values[-1]:.0f} at the end"
            )
        return "\n".join(lines)


async def run_load(
    url: str, pids: Mapping[str, int], *, clients: int, seconds: float, pause_seconds: float = 0.0
) -> Outcome:
    """Ask with so many clients at once for so long; asks under way at the end are waited for.

    Args:
        url: Of the API.
        pids: Processes whose memory is watched.
        clients: Callers at once.
        seconds: How long they ask.
        pause_seconds: Between two asks of one client.
    """
    outcome = Outcome()
    ends = time.monotonic() + seconds
    numbers = itertools.count()
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    timeout = httpx.Timeout(_CLIENT_SECONDS)
    async with httpx.AsyncClient(limits=limits, timeout=timeout, trust_env=False) as client:
        watching = asyncio.create_task(_watch(pids, outcome))
        async with asyncio.TaskGroup() as group:
            for _ in range(clients):
                asking = _ask_on(
                    client, url, outcome, ends=ends, numbers=numbers, pause_seconds=pause_seconds
                )
                group.create_task(asking)
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
    _sample(pids, outcome)
    return outcome


async def _ask_on(
    client: httpx.AsyncClient,
    url: str,
    outcome: Outcome,
    *,
    ends: float,
    numbers: itertools.count[int],
    pause_seconds: float,
) -> None:
    while time.monotonic() < ends:
        number = next(numbers)
        question = f"{QUESTIONS[number % len(QUESTIONS)]} ({number % 50})"
        started = time.monotonic()
        reply = await client.post(f"{url}/ask", json={"question": question})
        has_time = "retry-after" in reply.headers
        code = "" if reply.status_code == 200 else str(reply.json().get("code", ""))
        outcome.replies[reply.status_code, has_time, code] += 1
        if reply.status_code == 200:
            outcome.seconds.append(time.monotonic() - started)
            wanted = pause_seconds
        else:
            wanted = float(reply.headers.get("retry-after", 1))
        await asyncio.sleep(max(0.0, min(wanted, ends - time.monotonic())))


async def _watch(pids: Mapping[str, int], outcome: Outcome) -> None:
    while True:
        _sample(pids, outcome)
        await asyncio.sleep(_SAMPLE_SECONDS)


def _sample(pids: Mapping[str, int], outcome: Outcome) -> None:
    for name, pid in pids.items():
        megabytes = psutil.Process(pid).memory_info().rss / _MEGABYTE
        outcome.memory.setdefault(name, []).append(megabytes)
