"""Questions that are answered later: rows that wait, with a lease while somebody works on one.

A question that was answered has its record among the asks and no row here any more; one that was
not has the problem document its asker would have got at once. Every change names the attempt it
belongs to, so that whoever lost a lease can change nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from pydantic import JsonValue
from sqlalchemy import JSON, ColumnElement, delete, func, update
from sqlmodel import Field, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from storage.columns import UtcDateTime, utc_now
from storage.database import Database
from storage.schema import Table

QueuedState = Literal["queued", "running", "failed"]
WAITING = ("queued", "running")


class QueuedAskRecord(Table, table=True):
    """One question that waits, is being answered, or could not be.

    Attributes:
        id: Of the ask; its record will have the same.
        request: The body as it was sent.
        caller: Who asked, as the gate found: name, labels, scopes and budget.
        labels: Access labels of the caller; who lacks one of them may not see the row.
        attempts: How often somebody began to answer it.
        due_at: Waiting: not to be taken before. Running: until when the lease holds.
        sent_at: When it was last given to the broker; None before, and without one.
        problem: Why it was not answered, as a problem document; empty otherwise.
    """

    __tablename__ = "queued_asks"  # pyright: ignore[reportAssignmentType] - declared as a method

    id: str = Field(primary_key=True)
    created_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime, index=True)
    request: dict[str, JsonValue] = Field(sa_type=JSON)
    caller: dict[str, JsonValue] = Field(sa_type=JSON)
    labels: list[str] = Field(default_factory=list, sa_type=JSON)
    state: str = Field(default="queued", index=True)
    attempts: int = 0
    due_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime, index=True)
    sent_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    finished_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    problem: dict[str, JsonValue] = Field(default_factory=dict, sa_type=JSON)


@dataclass(frozen=True, slots=True)
class AskClaim:
    """A question in the hands of one worker.

    Attributes:
        attempt: Which attempt this is, from 1; proves that the lease is still this one.
    """

    ask: QueuedAskRecord
    attempt: int


class AskQueue:
    """Takes questions in, lends them, and keeps what failed.

    Args:
        database: Where they are kept.
        lease_seconds: How long whoever works on one may be silent.
    """

    def __init__(self, database: Database, *, lease_seconds: float = 15.0) -> None:
        self._database = database
        self._lease_seconds = lease_seconds

    async def submit(self, ask: QueuedAskRecord, *, most_waiting: int) -> bool:
        """Accept a question; it is durable when this returns True. False: too many wait already.

        Raises:
            DatabaseUnavailableError: It could not be stored.
        """
        async with self._database.write() as session:
            if await _waiting(session) >= most_waiting:
                return False
            session.add(ask)
            return True

    async def find(self, ask_id: str) -> QueuedAskRecord | None:
        """Return the row of a question, or None."""
        async with self._database.read() as session:
            return await session.get(QueuedAskRecord, ask_id)

    async def counts(self) -> dict[str, int]:
        """Return how many questions are in each state."""
        query = select(QueuedAskRecord.state, func.count()).group_by(col(QueuedAskRecord.state))
        async with self._database.read() as session:
            return dict((await session.exec(query)).all())

    async def claim(self) -> AskClaim | None:
        """Take the oldest question that is due; None when there is none."""
        due = (
            select(QueuedAskRecord)
            .where(*_due())
            .order_by(col(QueuedAskRecord.created_at), col(QueuedAskRecord.id))
            .limit(1)
        )
        async with self._database.read() as session:
            if (await session.exec(due)).first() is None:
                return None
        async with self._database.write() as session:
            ask = (await session.exec(due.with_for_update(skip_locked=True))).first()
            return self._lend(session, ask) if ask else None

    async def claim_named(self, ask_id: str, *, is_redelivered: bool) -> AskClaim | None:
        """Take the question a message names; None when there is nothing to do about it.

        Args:
            ask_id: Of the message.
            is_redelivered: The broker gave the message to somebody who is gone, whose lease
                does not count.
        """
        async with self._database.write() as session:
            ask = await session.get(QueuedAskRecord, ask_id, with_for_update=True)
            if ask is None or ask.state not in WAITING:
                return None
            if ask.due_at > utc_now() and not (is_redelivered and ask.state == "running"):
                return None
            return self._lend(session, ask)

    async def extend(self, claim: AskClaim) -> bool:
        """Prolong a lease; False when somebody else has the question now."""
        return await self._change(claim, {"due_at": self._lease_end()})

    async def answered(self, claim: AskClaim) -> None:
        """Forget a question whose record is stored."""
        async with self._database.write() as session:
            await session.exec(
                delete(QueuedAskRecord).where(col(QueuedAskRecord.id) == claim.ask.id)
            )

    async def failed(self, claim: AskClaim, problem: Mapping[str, JsonValue]) -> None:
        """Keep why a question was not answered."""
        await self._change(
            claim, {"state": "failed", "problem": dict(problem), "finished_at": utc_now()}
        )

    async def postpone(self, claim: AskClaim, *, seconds: float, counts: bool) -> None:
        """Give a question back to be tried again later.

        Args:
            claim: What was taken.
            seconds: Not before so long from now.
            counts: Whether it counts as an attempt.
        """
        await self._change(
            claim,
            {
                "state": "queued",
                "due_at": utc_now() + timedelta(seconds=seconds),
                "attempts": claim.attempt if counts else claim.attempt - 1,
                "sent_at": None,
            },
        )

    async def unsent(self, *, limit: int, again_after_seconds: float) -> Sequence[str]:
        """Return ids of due questions that the broker does not have, or seems to have lost."""
        sent_at = col(QueuedAskRecord.sent_at)
        lost_before = utc_now() - timedelta(seconds=again_after_seconds)
        query = (
            select(QueuedAskRecord.id)
            .where(*_due(), sent_at.is_(None) | (sent_at < lost_before))
            .order_by(col(QueuedAskRecord.created_at))
            .limit(limit)
        )
        async with self._database.read() as session:
            return (await session.exec(query)).all()

    async def mark_sent(self, task_ids: Sequence[str]) -> None:
        """Note that the broker has confirmed these."""
        async with self._database.write() as session:
            await session.exec(
                update(QueuedAskRecord)
                .where(col(QueuedAskRecord.id).in_(task_ids))
                .values(sent_at=utc_now())
            )

    async def purge_failed(self, before: datetime) -> int:
        """Delete questions that failed before a moment; returns how many."""
        async with self._database.write() as session:
            result = await session.exec(
                delete(QueuedAskRecord).where(
                    col(QueuedAskRecord.state) == "failed",
                    col(QueuedAskRecord.finished_at) < before,
                )
            )
            return result.rowcount

    def _lend(self, session: AsyncSession, ask: QueuedAskRecord) -> AskClaim:
        ask.state, ask.due_at = "running", self._lease_end()
        ask.attempts += 1
        session.add(ask)
        return AskClaim(ask, ask.attempts)

    def _lease_end(self) -> datetime:
        return utc_now() + timedelta(seconds=self._lease_seconds)

    async def _change(self, claim: AskClaim, values: Mapping[str, object]) -> bool:
        async with self._database.write() as session:
            changed = await session.exec(
                update(QueuedAskRecord)
                .where(
                    col(QueuedAskRecord.id) == claim.ask.id,
                    col(QueuedAskRecord.state) == "running",
                    col(QueuedAskRecord.attempts) == claim.attempt,
                )
                .values(**values)
            )
            return changed.rowcount > 0


def _due() -> tuple[ColumnElement[bool], ...]:
    return (
        col(QueuedAskRecord.state).in_(WAITING),
        col(QueuedAskRecord.due_at) <= utc_now(),
    )


async def _waiting(session: AsyncSession) -> int:
    query = select(func.count()).where(col(QueuedAskRecord.state).in_(WAITING))
    return (await session.exec(query)).one()
