"""Jobs of the ingestion and their tasks: the queue itself, and the outbox of a broker.

A job is one order: ingest these sources, roll back, clean up. It is carried out as tasks: one that
lists the documents, one for each document, one that finishes. Whoever accepts a job only writes
rows here; workers take tasks from ``storage.job_queue``, with or without a broker between.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal

from pydantic import JsonValue
from sqlalchemy import JSON, Text, delete, func, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import Field, col, select

from storage.columns import UtcDateTime, utc_now
from storage.database import Database
from storage.schema import Table

JobKind = Literal["ingest", "publish", "rollback", "gc"]
JobState = Literal["queued", "running", "done", "failed", "cancelled"]
TaskKind = Literal["plan", "document", "finish"]

ACTIVE = ("queued", "running")
FIRST_TASK: Mapping[str, TaskKind] = {
    "ingest": "plan",
    "publish": "finish",
    "rollback": "finish",
    "gc": "finish",
}


class JobRecord(Table, table=True):
    """One order and how far it is.

    Attributes:
        request: What is asked for; its shape belongs to the kind.
        progress: Stage, numbers done and in all, rate and seconds left, as last reported.
        report: What came of it, once it is done.
        build: The build it put in force.
        error_code: Stable name of why it failed; empty otherwise.
        staging: Folder under the data folder where its documents are prepared.
        is_cancelled: Somebody asked for its end; a worker sees that within seconds.
        revision: Grows with every change, so that a watcher can tell.
    """

    __tablename__ = "jobs"  # pyright: ignore[reportAssignmentType] - declared as a method

    id: str = Field(primary_key=True, default_factory=lambda: str(uuid.uuid4()))
    kind: str = Field(index=True)
    state: str = Field(default="queued", index=True)
    created_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime, index=True)
    started_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    finished_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    requester: str = ""
    profile: str = "default"
    request: dict[str, JsonValue] = Field(default_factory=dict, sa_type=JSON)
    progress: dict[str, JsonValue] = Field(default_factory=dict, sa_type=JSON)
    report: dict[str, JsonValue] = Field(default_factory=dict, sa_type=JSON)
    build: str = ""
    error_code: str = ""
    error: str = Field(default="", sa_type=Text)
    staging: str = ""
    is_cancelled: bool = False
    revision: int = 0


class TaskRecord(Table, table=True):
    """One step of a job that a worker takes as a whole.

    Attributes:
        id: Made of the job and the step, so that adding a step twice adds it once.
        name: The document; empty for other steps.
        attempts: How often a worker took it.
        due_at: Waiting: not to be taken before. Running: until when the worker's lease holds.
        worker: Who took it last.
        sent_at: When it was last given to the broker; None before, and without one.
        chunks: Of the document.
        reason: Why the document is not in the index, or why the step failed.
    """

    __tablename__ = "job_tasks"  # pyright: ignore[reportAssignmentType] - declared as a method

    id: str = Field(primary_key=True)
    job_id: str = Field(index=True)
    kind: str
    name: str = Field(default="", sa_type=Text)
    position: int = 0
    state: str = Field(default="queued", index=True)
    attempts: int = 0
    due_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime, index=True)
    worker: str = ""
    sent_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    chunks: int = 0
    reason: str = Field(default="", sa_type=Text)


def first_task(job: JobRecord) -> TaskRecord:
    """Return the task a job begins with."""
    kind = FIRST_TASK[job.kind]
    return TaskRecord(id=f"{job.id}:{kind}", job_id=job.id, kind=kind)


class JobStore:
    """Accepts, lists, cancels and retries jobs.

    Args:
        database: Where they are kept.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def submit(self, job: JobRecord) -> None:
        """Accept a job; it is durable when this returns.

        Raises:
            DatabaseUnavailableError: It could not be stored.
        """
        async with self._database.write() as session:
            session.add(job)
            session.add(first_task(job))

    async def submit_once(self, job: JobRecord) -> bool:
        """Accept a job unless there is one with its id; says whether it was accepted.

        Raises:
            DatabaseUnavailableError: It could not be stored.
        """
        try:
            async with self._database.write() as session:
                if await session.get(JobRecord, job.id) is not None:
                    return False
                session.add(job)
                session.add(first_task(job))
        except IntegrityError:  # somebody else was faster
            return False
        return True

    async def find(self, job_id: str) -> JobRecord | None:
        """Return a job, or None."""
        async with self._database.read() as session:
            return await session.get(JobRecord, job_id)

    async def count_by_state(self) -> Mapping[str, int]:
        """Return the number of jobs by state; states without any are left out."""
        query = select(JobRecord.state, func.count()).group_by(col(JobRecord.state))
        async with self._database.read() as session:
            return dict((await session.exec(query)).all())

    async def revision(self, job_id: str) -> int | None:
        """Return a number that grows with every change of a job; None when there is none."""
        async with self._database.read() as session:
            query = select(JobRecord.revision).where(JobRecord.id == job_id)
            return (await session.exec(query)).first()

    async def recent(self, *, limit: int) -> Sequence[JobRecord]:
        """Return jobs, newest first."""
        query = select(JobRecord).order_by(col(JobRecord.created_at).desc(), col(JobRecord.id))
        async with self._database.read() as session:
            return (await session.exec(query.limit(limit))).all()

    async def documents(self, job_id: str) -> Sequence[TaskRecord]:
        """Return a job's documents in order."""
        query = (
            select(TaskRecord)
            .where(TaskRecord.job_id == job_id, TaskRecord.kind == "document")
            .order_by(col(TaskRecord.position))
        )
        async with self._database.read() as session:
            return (await session.exec(query)).all()

    async def counts(self, job_ids: Sequence[str]) -> dict[str, Counter[str]]:
        """Return for each of these jobs how many documents are in each state."""
        query = (
            select(TaskRecord.job_id, TaskRecord.state, func.count())
            .where(col(TaskRecord.job_id).in_(job_ids), TaskRecord.kind == "document")
            .group_by(col(TaskRecord.job_id), col(TaskRecord.state))
        )
        found: dict[str, Counter[str]] = {job_id: Counter() for job_id in job_ids}
        async with self._database.read() as session:
            for job_id, state, count in (await session.exec(query)).all():
                found[job_id][state] = count
        return found

    async def cancel(self, job_id: str) -> JobRecord | None:
        """Ask for the end of a job; one that no worker has begun ends at once.

        Returns:
            The job as it is now; None when there is none.
        """
        async with self._database.write() as session:
            job = await session.get(JobRecord, job_id, with_for_update=True)
            if job is None or job.state not in ACTIVE:
                return job
            job.is_cancelled = True
            job.revision += 1
            if job.state == "queued":
                job.state, job.finished_at = "cancelled", utc_now()
                await session.exec(
                    update(TaskRecord)
                    .where(col(TaskRecord.job_id) == job_id)
                    .values(state="cancelled")
                )
            session.add(job)
            return job

    async def retry(self, job_id: str) -> JobRecord | None:
        """Begin a failed or cancelled job anew; what was embedded is found in the side store.

        Returns:
            The job as it is now; None when there is none.
        """
        async with self._database.write() as session:
            job = await session.get(JobRecord, job_id, with_for_update=True)
            if job is None or job.state not in {"failed", "cancelled"}:
                return job
            await session.exec(delete(TaskRecord).where(col(TaskRecord.job_id) == job_id))
            job.state, job.is_cancelled, job.staging = "queued", False, ""
            job.error = job.error_code = job.build = ""
            job.progress, job.report = {}, {}
            job.started_at = job.finished_at = None
            job.revision += 1
            session.add(job)
            session.add(first_task(job))
            return job
