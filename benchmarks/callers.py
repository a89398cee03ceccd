"""Many callers at the same time, and how long each of their calls took."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from benchmarks.timing import Times, summarise


@dataclass(frozen=True, slots=True)
class Load:
    """What callers saw.

    Attributes:
        per_second: Finished calls.
    """

    times: Times
    per_second: float


async def run_callers(
    call: Callable[[str], Awaitable[object]], texts: Sequence[str], callers: int
) -> Load:
    """Let so many tasks work through the texts, one call after the other each."""
    waiting: Iterator[str] = iter(texts)
    taken: list[float] = []

    async def work() -> None:
        for text in waiting:
            started = time.perf_counter()
            await call(text)
            taken.append((time.perf_counter() - started) * 1000)

    started = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(callers):
            group.create_task(work())
    return Load(summarise(taken), round(len(taken) / (time.perf_counter() - started), 1))


def run_threads(call: Callable[[str], object], texts: Sequence[str], callers: int) -> Load:
    """Do the same with threads, for calls that block."""

    def timed(text: str) -> float:
        started = time.perf_counter()
        call(text)
        return (time.perf_counter() - started) * 1000

    started = time.perf_counter()
    with ThreadPoolExecutor(callers) as pool:
        taken = list(pool.map(timed, texts))
    return Load(summarise(taken), round(len(taken) / (time.perf_counter() - started), 1))
