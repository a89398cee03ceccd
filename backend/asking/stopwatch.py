"""Milliseconds spent in the named stages of one ask."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager


class Stopwatch:
    """Adds up the time of each stage; stages may overlap.

    Args:
        clock: Returns monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._started = clock()
        self._spent: dict[str, float] = {}

    @contextmanager
    def measure(self, stage: str) -> Generator[None]:
        """Count the time of the block to a stage."""
        started = self._clock()
        try:
            yield
        finally:
            milliseconds = (self._clock() - started) * 1000
            self._spent[stage] = max(self._spent.get(stage, 0.0), milliseconds)

    def timings(self) -> dict[str, float]:
        """Return milliseconds by stage and in total, rounded to a tenth.

        A stage that ran several times at once counts with its longest run.
        """
        total = (self._clock() - self._started) * 1000
        return {name: round(spent, 1) for name, spent in (self._spent | {"total": total}).items()}
