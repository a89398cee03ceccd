"""The tasks that a broker should have: rows are written first, messages follow from them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import update
from sqlmodel import col, select

from storage.columns import utc_now
from storage.database import Database
from storage.job_queue import oldest_active
from storage.jobs import ACTIVE, TaskRecord


class JobOutbox:
    """Says which tasks to give to the broker, and keeps which it has.

    Args:
        database: Where jobs are kept.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def unsent(self, *, limit: int, again_after_seconds: float) -> Sequence[str]:
        """Return ids of due tasks that the broker does not have, or seems to have lost."""
        async with self._database.read() as session:
            job = (await session.exec(oldest_active())).first()
            if job is None:
                return []
            lost_before = utc_now() - timedelta(seconds=again_after_seconds)
            sent_at = col(TaskRecord.sent_at)
            query = (
                select(TaskRecord.id)
                .where(
                    TaskRecord.job_id == job.id,
                    col(TaskRecord.state).in_(ACTIVE),
                    col(TaskRecord.due_at) <= utc_now(),
                    sent_at.is_(None) | (sent_at < lost_before),
                )
                .order_by(col(TaskRecord.position))
                .limit(limit)
            )
            return (await session.exec(query)).all()

    async def mark_sent(self, task_ids: Sequence[str]) -> None:
        """Note that the broker has confirmed these tasks."""
        async with self._database.write() as session:
            await session.exec(
                update(TaskRecord).where(col(TaskRecord.id).in_(task_ids)).values(sent_at=utc_now())
            )
