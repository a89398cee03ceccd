"""Tells the database what only a worker can see: that it lives, its profiles, and the builds."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping

from ingestion.guarded_transport import GuardedTransport
from ingestion.refreshing import Look, Refresher, look_at
from ingestion.staging import Staging, remove_leftovers
from ingestion.toolbox import Toolbox
from ingestion.worker_settings import WorkerSettings
from retrieval.errors import RetrievalError
from retrieval.opening import open_catalog
from service.logs import get_logger
from storage.errors import StorageError
from storage.index_view import IndexView, SourceRecord
from storage.job_orders import IngestOrder
from storage.job_queue import Claim
from storage.jobs import ACTIVE, JobStore

_EVERY_SECONDS = 10.0
_RECENT = 200

_logger = get_logger(__name__)


class Herald:
    """Speaks for one worker.

    Args:
        settings: Of the process.
        view: Where it is told.
        jobs: Which jobs are under way.
        toolbox: Rests when there is nothing to do.
        worker: Name of the worker.
        profiles: Ingestion profiles it knows.
    """

    def __init__(
        self,
        settings: WorkerSettings,
        view: IndexView,
        jobs: JobStore,
        toolbox: Toolbox,
        *,
        worker: str,
        profiles: Collection[str],
    ) -> None:
        self._settings = settings
        self._view = view
        self._jobs = jobs
        self._toolbox = toolbox
        self._worker = worker
        self._profiles = profiles
        self._refresher = Refresher(view, jobs, self._look)

    async def run(self) -> None:
        """Tell again and again until cancelled."""
        while True:
            try:
                await self._view.announce(self._worker, self._profiles)
                await self.show_builds()
                await self._refresher.run()
                await self._toolbox.rest()
            except (RetrievalError, StorageError) as error:
                _logger.warning("nothing told", detail=str(error))
            await asyncio.sleep(_EVERY_SECONDS)

    def _look(self, url: str, known: Mapping[str, str]) -> Look:
        transport = GuardedTransport(
            allowed_hosts=self._settings.allowed_hosts, private_hosts=self._settings.private_hosts
        )
        seconds = self._settings.fetch_seconds
        return look_at(url, known, transport=transport, timeout_seconds=seconds)

    async def tidy(self) -> None:
        """Remove what jobs left behind that ended while no worker was there."""
        recent = await self._jobs.recent(limit=_RECENT)
        active = [job.id for job in recent if job.state in ACTIVE]
        await asyncio.to_thread(remove_leftovers, self._settings.staging_dir, active)

    async def show_builds(self) -> None:
        """Keep the present builds where others can read them."""
        catalog = open_catalog(self._settings)
        try:
            builds = [build.model_dump(mode="json") for build in await catalog.list()]
            await self._view.show(self._settings.collection, await catalog.pointer(), builds)
        finally:
            await catalog.close()

    async def job_ended(self, claim: Claim) -> None:
        """Tell what is different after a job, and forget what was prepared for it."""
        staging = Staging(self._settings.staging_dir / claim.job.id)
        await asyncio.to_thread(staging.remove)
        job = await self._jobs.find(claim.job.id)
        if job is not None and job.kind == "ingest" and job.state == "done":
            order = IngestOrder.model_validate(job.request)
            await self._view.keep_sources(
                [
                    SourceRecord(
                        name=source.name,
                        location=source.location,
                        profile=job.profile,
                        request=IngestOrder(
                            sources=(source,), refresh_seconds=order.refresh_seconds
                        ).model_dump(mode="json"),
                        refresh_seconds=order.refresh_seconds,
                        validators={**order.validators},
                    )
                    for source in order.sources
                ]
            )
        try:
            await self.show_builds()
        except RetrievalError as error:
            _logger.warning("builds not shown", detail=str(error))
