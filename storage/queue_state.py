"""How full the queues in the database are, for whoever watches them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import func
from sqlmodel import col, select

from storage.columns import utc_now
from storage.database import Database
from storage.index_view import WorkerRecord
from storage.jobs import ACTIVE, JobRecord, TaskRecord
from storage.queued_asks import AskQueue


@dataclass(frozen=True, slots=True)
class QueueState:
    """What waits and what had to be begun again.

    Attributes:
        tasks: Tasks of jobs under way, by state.
        repeats: Attempts beyond the first over those tasks.
        asks: Questions asked for later, by state.
        worker_silence_seconds: Since the last worker said that it lives; None: there was none.
    """

    tasks: Mapping[str, int]
    repeats: int
    asks: Mapping[str, int]
    worker_silence_seconds: float | None


async def look_at_queues(database: Database) -> QueueState:
    """Return the state of every queue.

    Raises:
        DatabaseUnavailableError: The database cannot be read.
    """
    of_active_jobs = col(TaskRecord.job_id).in_(
        select(JobRecord.id).where(col(JobRecord.state).in_(ACTIVE))
    )
    under_way = (
        select(TaskRecord.state, func.count(), func.sum(TaskRecord.attempts))
        .where(of_active_jobs)
        .group_by(col(TaskRecord.state))
    )
    begun = select(func.count()).where(of_active_jobs, col(TaskRecord.attempts) > 0)
    newest = select(func.max(WorkerRecord.seen_at))
    async with database.read() as session:
        rows = (await session.exec(under_way)).all()
        first_attempts = (await session.exec(begun)).one()
        seen_at = (await session.exec(newest)).one()
    return QueueState(
        tasks={state: count for state, count, _ in rows},
        repeats=sum(attempts for _, _, attempts in rows) - first_attempts,
        asks=await AskQueue(database).counts(),
        worker_silence_seconds=(utc_now() - seen_at).total_seconds() if seen_at else None,
    )
