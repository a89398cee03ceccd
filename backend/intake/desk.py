"""Takes orders for the index: checks them, writes jobs, and tells how they are. Only SQL."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from backend.edge.uploads import Upload, UploadFolder
from backend.errors import BadOrderError, JobStateError, NoWorkerError, UnknownJobError
from backend.intake.contract import (
    Accepted,
    BuildView,
    FileBody,
    FilesBody,
    FolderBody,
    JobDetail,
    JobView,
    SourceView,
    UrlBody,
    view_detail,
    view_job,
)
from backend.intake.paths import count_files, host_of, locate
from storage.database import Database
from storage.index_view import IndexView
from storage.job_orders import GcOrder, IngestOrder, OrderedSource, PublishOrder
from storage.jobs import ACTIVE, JobKind, JobRecord, JobStore

_LIST_LIMIT = 50
_LOOK_SECONDS = 0.5
_SIGN_OF_LIFE_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class DeskRules:
    """What may be ordered.

    Attributes:
        roots: Folders that jobs may read.
        uploads: Where uploads are kept.
    """

    roots: tuple[Path, ...]
    uploads: UploadFolder


class IngestionDesk:
    """The ingestion as routes and pages see it.

    Args:
        database: Where jobs are.
        rules: What may be ordered.
    """

    def __init__(self, database: Database, rules: DeskRules) -> None:
        self._jobs = JobStore(database)
        self._view = IndexView(database)
        self._rules = rules

    async def order_files(self, body: FileBody | FilesBody, requester: str) -> Accepted:
        """Order files to be read, each a source of its own."""
        paths = (body.file_path,) if isinstance(body, FileBody) else body.file_paths
        named = body.source if isinstance(body, FileBody) else ""
        sources: dict[str, OrderedSource] = {}
        for text in paths:
            path, name = await asyncio.to_thread(locate, text, self._rules.roots)
            if not path.is_file():
                raise BadOrderError(f"{text}: not a file")
            source = OrderedSource(
                name=named or name, kind="path", location=str(path), labels=body.labels
            )
            sources[source.name] = source
        return await self._ingest(list(sources.values()), body.profile, requester, len(sources))

    async def order_folder(self, body: FolderBody, requester: str) -> Accepted:
        """Order a folder to be read."""
        path, name = await asyncio.to_thread(locate, body.folder_path, self._rules.roots)
        if not path.is_dir():
            raise BadOrderError(f"{body.folder_path}: not a folder")
        source = OrderedSource(
            name=body.source or name, kind="path", location=str(path), glob=body.glob,
            labels=body.labels, is_recursive=body.recursive,
        )  # fmt: skip
        count = await asyncio.to_thread(count_files, path, body.glob, is_recursive=body.recursive)
        return await self._ingest([source], body.profile, requester, count)

    async def order_url(self, body: UrlBody, requester: str) -> Accepted:
        """Order an address to be read."""
        host = host_of(body.url)
        source = OrderedSource(
            name=body.source or host, kind="url", location=body.url, labels=body.labels
        )
        return await self._ingest(
            [source], body.profile, requester, None, refresh_seconds=body.refresh_seconds
        )

    async def order_upload(
        self, source: str, files: Sequence[Upload], profile: str, requester: str
    ) -> Accepted:
        """Keep uploaded files and order their source to be read."""
        await self._require_profile(profile)
        folder = await self._rules.uploads.keep(source, files)
        ordered = OrderedSource(name=source, kind="path", location=str(folder))
        return await self._ingest([ordered], profile, requester, len(files))

    async def order_removal(self, source: str, requester: str) -> Accepted:
        """Order a source to be left out of the index."""
        if source not in {known.name for known in await self.sources()}:
            raise BadOrderError(f"there is no source {source!r} in the index")
        order = IngestOrder(removed=(source,))
        return await self._submit("ingest", order.model_dump(mode="json"), requester)

    async def order_publish(self, build: str, requester: str) -> Accepted:
        """Order a build to be put in force."""
        if build not in {known.build for known in await self.builds()}:
            raise BadOrderError(f"there is no build {build!r}")
        order = PublishOrder(build=build)
        return await self._submit("publish", order.model_dump(mode="json"), requester)

    async def order_rollback(self, requester: str) -> Accepted:
        """Order the build before the one in force to be put back in force."""
        return await self._submit("rollback", {}, requester)

    async def order_cleaning(self, keep: int, requester: str) -> Accepted:
        """Order old builds to be removed."""
        return await self._submit("gc", GcOrder(keep=keep).model_dump(mode="json"), requester)

    async def jobs(self) -> list[JobView]:
        """Return the newest jobs."""
        jobs = await self._jobs.recent(limit=_LIST_LIMIT)
        counts = await self._jobs.counts([job.id for job in jobs])
        return [view_job(job, counts[job.id]) for job in jobs]

    async def job(self, job_id: str) -> JobDetail:
        """Return a job with its documents.

        Raises:
            UnknownJobError: There is none.
        """
        job = _known(await self._jobs.find(job_id))
        return view_detail(job, list(await self._jobs.documents(job_id)))

    async def watch(self, job_id: str) -> AsyncGenerator[JobDetail | None]:
        """Yield a job whenever it changed, until it has ended; None is a sign of life.

        Raises:
            UnknownJobError: There is none.
        """
        seen, spoken_at = -1, time.monotonic()
        while True:
            revision = await self._jobs.revision(job_id)
            if revision != seen:
                detail = await self.job(job_id)
                yield detail
                if detail.state not in ACTIVE:
                    return
                seen, spoken_at = revision or 0, time.monotonic()
            elif time.monotonic() - spoken_at > _SIGN_OF_LIFE_SECONDS:
                yield None
                spoken_at = time.monotonic()
            await asyncio.sleep(_LOOK_SECONDS)

    async def newest(self, limit: int) -> list[JobDetail]:
        """Return the newest jobs with their documents."""
        jobs = await self._jobs.recent(limit=limit)
        return [view_detail(job, list(await self._jobs.documents(job.id))) for job in jobs]

    async def watch_newest(self, limit: int) -> AsyncGenerator[list[JobDetail]]:
        """Yield the newest jobs, even none, and again at each change while one is active."""
        seen: list[tuple[str, int]] | None = None
        while True:
            jobs = await self._jobs.recent(limit=limit)
            present = [(job.id, job.revision) for job in jobs]
            if present != seen:
                seen = present
                yield await self.newest(limit)
            if not any(job.state in ACTIVE for job in jobs):
                return
            await asyncio.sleep(_LOOK_SECONDS)

    async def cancel(self, job_id: str) -> JobView:
        """Ask for the end of a job.

        Raises:
            UnknownJobError: There is none.
            JobStateError: It has ended.
        """
        job = _known(await self._jobs.cancel(job_id))
        if not job.is_cancelled:
            raise JobStateError(f"this job is {job.state} already")
        return view_job(job, (await self._jobs.counts([job_id]))[job_id])

    async def retry(self, job_id: str) -> JobView:
        """Begin a failed or cancelled job anew.

        Raises:
            UnknownJobError: There is none.
            JobStateError: It did not fail.
        """
        before = _known(await self._jobs.find(job_id))
        if before.state not in {"failed", "cancelled"}:
            raise JobStateError(f"this job is {before.state}; only one that failed can be retried")
        return view_job(_known(await self._jobs.retry(job_id)), {})

    async def builds(self) -> list[BuildView]:
        """Return every complete build, newest first, as a worker last saw them."""
        view = await self._view.latest()
        if view is None:
            return []
        return [
            BuildView.model_validate(
                {
                    **build,
                    "is_current": build.get("build") == view.current,
                    "embedding_model": _stamped(build, "embedding_model"),
                }
            )
            for build in view.builds
        ]

    async def sources(self) -> list[SourceView]:
        """Return the sources of the build in force with their freshness."""
        current = next((build for build in await self.builds() if build.is_current), None)
        known = {record.name: record for record in await self._view.sources()}
        found: list[SourceView] = []
        for name, chunks in sorted((current.sources if current else {}).items()):
            record = known.get(name)
            found.append(
                SourceView(
                    name=name,
                    chunks=chunks,
                    location=record.location if record else "",
                    ingested_at=record.ingested_at if record else None,
                    refresh_seconds=record.refresh_seconds if record else 0,
                )
            )
        return found

    async def profiles(self) -> list[str]:
        """Return the ingestion profiles that workers know."""
        workers = await self._view.workers()
        return sorted({profile for worker in workers for profile in worker.profiles})

    async def _ingest(
        self,
        sources: Sequence[OrderedSource],
        profile: str,
        requester: str,
        documents: int | None,
        *,
        refresh_seconds: int = 0,
    ) -> Accepted:
        await self._require_profile(profile)
        order = IngestOrder(sources=tuple(sources), refresh_seconds=refresh_seconds)
        return await self._submit(
            "ingest", order.model_dump(mode="json"), requester, profile, documents
        )

    async def _require_profile(self, profile: str) -> None:
        known = await self.profiles()
        if not known:
            raise NoWorkerError("no worker has announced itself yet; start one: vouch worker")
        if profile not in known:
            raise BadOrderError(f"unknown profile {profile!r}; known are {', '.join(known)}")

    async def _submit(
        self,
        kind: JobKind,
        request: dict[str, JsonValue],
        requester: str,
        profile: str = "default",
        documents: int | None = 0,
    ) -> Accepted:
        job = JobRecord(kind=kind, request=request, profile=profile, requester=requester)
        await self._jobs.submit(job)
        location = f"/api/v1/ingestion/jobs/{job.id}"
        return Accepted(job_id=job.id, documents=documents, location=location)


def _known(job: JobRecord | None) -> JobRecord:
    if job is None:
        raise UnknownJobError("there is no such job")
    return job


def _stamped(build: dict[str, JsonValue], name: str) -> JsonValue:
    stamp = build.get("stamp")
    return stamp.get(name, "") if isinstance(stamp, dict) else ""
