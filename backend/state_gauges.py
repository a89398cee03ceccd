"""Numbers that are looked up when metrics are collected: jobs by state, and the calibration's."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Protocol, get_args

from prometheus_client import CollectorRegistry, Gauge

from backend.asking.ports import IndexSource
from backend.verdict.calibration_artefact import CalibrationState
from backend.verdict.rules import RuleBook
from service.errors import VouchError
from storage.jobs import JobState

_DEADLINE_SECONDS = 2.0
_NO_CALIBRATION = "none"


class JobCounts(Protocol):
    """Knows how many jobs there are. Raises ``StorageError`` when it cannot look."""

    async def count_by_state(self) -> Mapping[str, int]:
        """Return the number of jobs by state; states without any may be left out."""
        ...


class StateGauges:
    """Looks up the state of jobs and calibration; what cannot be looked up keeps its last value.

    Args:
        registry: Of the process.
        jobs: Counts jobs.
        rules: Know the calibration in force.
        index: Which build it is judged against.
    """

    def __init__(
        self, registry: CollectorRegistry, jobs: JobCounts, rules: RuleBook, index: IndexSource
    ) -> None:
        self._jobs = jobs
        self._rules = rules
        self._index = index
        self._job_gauge = Gauge(
            "vouch_jobs", "Ingestion jobs by state.", ("state",), registry=registry
        )
        self._calibration_gauge = Gauge(
            "vouch_calibration_state",
            "One for the state the calibration is in: fresh, drifted, void, or none.",
            ("state",),
            registry=registry,
        )

    async def refresh(self) -> None:
        """Look everything up, for no longer than a scrape can wait."""
        with suppress(TimeoutError, VouchError):
            async with asyncio.timeout(_DEADLINE_SECONDS):
                counts = await self._jobs.count_by_state()
                for state in get_args(JobState):
                    self._job_gauge.labels(state).set(counts.get(state, 0))
                rule = await self._rules.rule_for(await self._index.current())
                for name in (*get_args(CalibrationState), _NO_CALIBRATION):
                    is_it = name == (rule.state or _NO_CALIBRATION)
                    self._calibration_gauge.labels(name).set(float(is_it))
