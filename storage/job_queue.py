"""Tasks as workers take them: with a lease, so that a killed worker's task is taken up again.

One job is under way at a time, the oldest: its documents are spread over the workers, and two jobs
never write the same build. Every change a worker makes names the attempt it was given, so that one
that lost its lease can change nothing any more. The job's row is locked before its tasks' rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from pydantic import JsonValue
from sqlalchemy import ColumnElement, update
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession
from sqlmodel.sql.expression import SelectOfScalar

from storage.columns import utc_now
from storage.database import Database
from storage.errors import LeaseLostError
from storage.jobs import ACTIVE, JobRecord, TaskRecord

Standing = Literal["held", "cancelled", "lost"]


@dataclass(frozen=True, slots=True)
class Claim:
    """A task in the hands of one worker.

    Attributes:
        attempt: Which attempt this is, from 1; proves that the lease is still this one.
    """

    task: TaskRecord
    job: JobRecord
    attempt: int


@dataclass(frozen=True, slots=True)
class LeaseRules:
    """How tasks are lent.

    Attributes:
        seconds: How long a worker may be silent before its task goes to another.
        most_attempts: After so many a task that never ended is given up.
    """

    seconds: float = 30.0
    most_attempts: int = 5

    def end(self) -> datetime:
        """Return when a lease that begins now ends."""
        return utc_now() + timedelta(seconds=self.seconds)


class JobQueue:
    """Lends tasks and takes their results.

    Args:
        database: Where jobs are kept.
        rules: How tasks are lent.
    """

    def __init__(self, database: Database, rules: LeaseRules) -> None:
        self._database = database
        self._rules = rules

    async def claim(self, worker: str) -> Claim | None:
        """Take the next task that is due; None when there is none.

        A task that was given up ends its job here, with the reason.
        """
        async with self._database.read() as session:
            if (await session.exec(oldest_active())).first() is None:
                return None
        async with self._database.write() as session:
            job = (await session.exec(oldest_active().with_for_update())).first()
            if job is None:
                return None
            query = (
                select(TaskRecord)
                .where(
                    TaskRecord.job_id == job.id,
                    col(TaskRecord.state).in_(ACTIVE),
                    col(TaskRecord.due_at) <= utc_now(),
                )
                .order_by(col(TaskRecord.position), col(TaskRecord.id))
                .limit(1)
            )
            task = (await session.exec(query)).first()
            return await self._lend(session, job, task, worker) if task else None

    async def claim_task(self, task_id: str, worker: str, *, is_redelivered: bool) -> Claim | None:
        """Take the task that a message names; None when there is nothing to do about it.

        Args:
            task_id: Of the message.
            worker: Who takes it.
            is_redelivered: The broker gave the message to a worker that is gone, so that worker's
                lease does not count.
        """
        async with self._database.write() as session:
            job_id = task_id.partition(":")[0]
            job = await session.get(JobRecord, job_id, with_for_update=True)
            task = await session.get(TaskRecord, task_id)
            if job is None or task is None or task.state not in ACTIVE:
                return None
            if task.due_at > utc_now() and not (is_redelivered and task.state == "running"):
                return None
            return await self._lend(session, job, task, worker)

    async def extend(self, claim: Claim) -> Standing:
        """Prolong a lease, and say whether there is any use in going on."""
        async with self._database.write() as session:
            prolonged = await session.exec(
                update(TaskRecord).where(*_held(claim)).values(due_at=self._rules.end())
            )
            if prolonged.rowcount == 0:
                return "lost"
            query = select(JobRecord.is_cancelled).where(JobRecord.id == claim.job.id)
            return "cancelled" if (await session.exec(query)).first() else "held"

    async def note(self, job_id: str, progress: Mapping[str, JsonValue]) -> None:
        """Keep how far a job is."""
        async with self._database.write() as session:
            await session.exec(
                update(JobRecord)
                .where(col(JobRecord.id) == job_id)
                .values(progress=dict(progress), revision=col(JobRecord.revision) + 1)
            )

    async def planned(self, claim: Claim, documents: Sequence[str], staging: str) -> None:
        """Add a task for each document, and one that finishes when all of them are through.

        Raises:
            LeaseLostError: Another worker has the task now.
        """
        async with self._database.write() as session:
            job = await _settle(session, claim, state="done")
            job.staging = staging
            session.add(job)
            session.add_all(
                TaskRecord(
                    id=f"{job.id}:{place}", job_id=job.id, kind="document", name=name,
                    position=place + 1,
                )
                for place, name in enumerate(documents)
            )  # fmt: skip
            await session.flush()
            await _finish_when_ready(session, job)

    async def document_done(self, claim: Claim, *, chunks: int, reason: str) -> None:
        """Keep what became of a document; a reason means that it is left out.

        Raises:
            LeaseLostError: Another worker has the task now.
        """
        async with self._database.write() as session:
            state = "failed" if reason else "done"
            job = await _settle(session, claim, state=state, chunks=chunks, reason=reason)
            await _finish_when_ready(session, job)

    async def finished(self, claim: Claim, *, build: str, report: Mapping[str, JsonValue]) -> None:
        """End a job well.

        Raises:
            LeaseLostError: Another worker has the task now.
        """
        async with self._database.write() as session:
            job = await _settle(session, claim, state="done")
            job.build, job.report = build, dict(report)
            _end(job, "done")
            session.add(job)

    async def failed(self, claim: Claim, *, code: str, error: str) -> None:
        """End a job with a reason; an empty code means that it was cancelled.

        Raises:
            LeaseLostError: Another worker has the task now.
        """
        async with self._database.write() as session:
            state = "failed" if code else "cancelled"
            job = await _settle(session, claim, state=state, reason=error)
            await _give_up(session, job, state=state, code=code, error=error)

    async def postpone(self, claim: Claim, *, seconds: float, counts: bool, reason: str) -> None:
        """Give a task back to be tried again later.

        Args:
            claim: What was taken.
            seconds: Not before so long from now.
            counts: Whether it counts as an attempt.
            reason: Shown with the task until it is through.
        """
        async with self._database.write() as session:
            await session.exec(
                update(TaskRecord)
                .where(*_held(claim))
                .values(
                    state="queued",
                    due_at=utc_now() + timedelta(seconds=seconds),
                    attempts=claim.attempt if counts else claim.attempt - 1,
                    reason=reason,
                    sent_at=None,
                )
            )

    async def _lend(
        self, session: AsyncSession, job: JobRecord, task: TaskRecord, worker: str
    ) -> Claim | None:
        if job.is_cancelled:
            await _give_up(session, job, state="cancelled", code="", error="")
            return None
        if task.attempts >= self._rules.most_attempts:
            error = f"given up after {task.attempts} attempts"
            error += f": {task.reason}" if task.reason else ": no worker came to its end"
            if task.kind == "document":
                task.state, task.reason = "failed", error
                session.add(task)
                await session.flush()
                await _finish_when_ready(session, job)
            else:
                await _give_up(session, job, state="failed", code="given_up", error=error)
            return None
        task.state, task.worker, task.due_at = "running", worker, self._rules.end()
        task.attempts += 1
        if job.state == "queued":
            job.state, job.started_at = "running", utc_now()
        job.revision += 1
        session.add(task)
        session.add(job)
        return Claim(task, job, task.attempts)


def oldest_active() -> SelectOfScalar[JobRecord]:
    """Return the query for the job under way."""
    return (
        select(JobRecord)
        .where(col(JobRecord.state).in_(ACTIVE))
        .order_by(col(JobRecord.created_at), col(JobRecord.id))
        .limit(1)
    )


def _held(claim: Claim) -> tuple[ColumnElement[bool], ...]:
    return (
        col(TaskRecord.id) == claim.task.id,
        col(TaskRecord.state) == "running",
        col(TaskRecord.attempts) == claim.attempt,
    )


async def _settle(
    session: AsyncSession, claim: Claim, *, state: str, chunks: int = 0, reason: str = ""
) -> JobRecord:
    """End a task and return its job, held against every other change until the commit."""
    job = await session.get_one(JobRecord, claim.job.id, with_for_update=True)
    settled = await session.exec(
        update(TaskRecord).where(*_held(claim)).values(state=state, chunks=chunks, reason=reason)
    )
    if settled.rowcount == 0:
        raise LeaseLostError(f"task {claim.task.id} is in other hands")
    job.revision += 1
    session.add(job)
    return job


async def _finish_when_ready(session: AsyncSession, job: JobRecord) -> None:
    open_tasks = select(TaskRecord.id).where(
        TaskRecord.job_id == job.id, col(TaskRecord.state).in_(ACTIVE)
    )
    if (await session.exec(open_tasks.limit(1))).first() is None:
        session.add(TaskRecord(id=f"{job.id}:finish", job_id=job.id, kind="finish"))


async def _give_up(
    session: AsyncSession, job: JobRecord, *, state: str, code: str, error: str
) -> None:
    await session.exec(
        update(TaskRecord)
        .where(col(TaskRecord.job_id) == job.id, col(TaskRecord.state).in_(ACTIVE))
        .values(state="cancelled")
    )
    job.error_code, job.error = code, error
    _end(job, state)
    session.add(job)


def _end(job: JobRecord, state: str) -> None:
    job.state, job.finished_at, job.progress = state, utc_now(), {}
    job.revision += 1
