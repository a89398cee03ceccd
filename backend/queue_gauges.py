"""Queues of the database and of the broker, looked up when metrics are collected."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import get_args

from prometheus_client import CollectorRegistry, Gauge

from service.broker_settings import BrokerSettings
from service.errors import VouchError
from storage.database import Database
from storage.queue_state import look_at_queues
from storage.queued_asks import QueuedState

_DEADLINE_SECONDS = 2.0
_TASK_STATES = ("queued", "running", "done", "failed")


class QueueGauges:
    """Looks queues up; what cannot be looked up keeps its last value.

    Args:
        registry: Of the process.
        database: Has the rows.
        settings: Say whether there is a broker.
        queues: Names of the broker's queues.
    """

    def __init__(
        self,
        registry: CollectorRegistry,
        database: Database,
        settings: BrokerSettings,
        queues: tuple[str, ...],
    ) -> None:
        self._database = database
        self._broker_url = settings.broker_url.get_secret_value()
        self._queues = queues
        self._tasks = Gauge(
            "vouch_job_tasks", "Tasks of jobs under way, by state.", ("state",), registry=registry
        )
        self._repeats = Gauge(
            "vouch_job_task_repeats", "Attempts beyond the first of these tasks.", registry=registry
        )
        self._asks = Gauge(
            "vouch_queued_asks", "Questions asked for later, by state.", ("state",),
            registry=registry,
        )  # fmt: skip
        self._silence = Gauge(
            "vouch_worker_silence_seconds", "Since a worker last said that it lives; -1: never.",
            registry=registry,
        )  # fmt: skip
        self._messages = Gauge(
            "vouch_broker_messages", "Messages that wait in a queue of the broker.", ("queue",),
            registry=registry,
        )  # fmt: skip
        self._broker_up = Gauge(
            "vouch_broker_up", "Whether the broker answers; absent without one.", ("broker",),
            registry=registry,
        )  # fmt: skip

    async def refresh(self) -> None:
        """Look everything up, for no longer than a scrape can wait."""
        with suppress(TimeoutError, VouchError):
            async with asyncio.timeout(_DEADLINE_SECONDS):
                state = await look_at_queues(self._database)
                for name in _TASK_STATES:
                    self._tasks.labels(name).set(state.tasks.get(name, 0))
                self._repeats.set(state.repeats)
                for name in get_args(QueuedState):
                    self._asks.labels(name).set(state.asks.get(name, 0))
                silence = state.worker_silence_seconds
                self._silence.set(-1.0 if silence is None else silence)
        if self._broker_url:
            await self._look_at_broker()

    async def _look_at_broker(self) -> None:
        from service.broker_watch import count_messages  # noqa: PLC0415 - only with a broker

        is_up = 0.0
        with suppress(TimeoutError, VouchError):
            async with asyncio.timeout(_DEADLINE_SECONDS):
                # Dead letters are the messages of the queue that ends in .dead.
                for name, count in (await count_messages(self._broker_url, self._queues)).items():
                    self._messages.labels(name).set(count)
                is_up = 1.0
        self._broker_up.labels("rabbitmq").set(is_up)
