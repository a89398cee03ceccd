"""Deletes recorded and queued asks with everything that hangs on them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, delete, or_
from sqlmodel import col, select

from storage.asks import AskRecord
from storage.audit import AuditEntry
from storage.database import Database
from storage.feedback import FeedbackRecord
from storage.labels import LabelRecord
from storage.queued_asks import QueuedAskRecord


class RecordEraser:
    """Finds and deletes records, their feedback, their labels, and audit rows in this database.

    With SQLite the tool server's audit is a file of its own, which has its own eraser.

    Args:
        database: Where the records are.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def ids_of(self, caller: str, *, limit: int) -> Sequence[str]:
        """Return ids of asks of one caller, as ``key-ID`` or ``anonymous``."""
        is_theirs = col(QueuedAskRecord.caller)["name"].as_string() == caller
        return await self._ids(col(AskRecord.caller) == caller, is_theirs, limit)

    async def ids_before(self, moment: datetime, *, limit: int) -> Sequence[str]:
        """Return ids of asks made before a moment, oldest first."""
        is_old = col(QueuedAskRecord.created_at) < moment
        return await self._ids(col(AskRecord.created_at) < moment, is_old, limit)

    async def erase(self, ask_ids: Sequence[str]) -> int:
        """Delete asks with all that hangs on them, in one transaction; returns how many there were.

        Raises:
            DatabaseUnavailableError: Nothing was deleted.
        """
        async with self._database.write() as session:
            await session.exec(
                delete(FeedbackRecord).where(col(FeedbackRecord.ask_id).in_(ask_ids))
            )
            await session.exec(delete(LabelRecord).where(col(LabelRecord.ask_id).in_(ask_ids)))
            await session.exec(delete(AuditEntry).where(_is_of(ask_ids)))
            waiting = delete(QueuedAskRecord).where(col(QueuedAskRecord.id).in_(ask_ids))
            gone = await session.exec(delete(AskRecord).where(col(AskRecord.id).in_(ask_ids)))
            return gone.rowcount + (await session.exec(waiting)).rowcount

    async def erase_beside(self, caller: str) -> None:
        """Delete what a caller left outside its own asks: feedback, and tool calls of its own."""
        async with self._database.write() as session:
            await session.exec(delete(FeedbackRecord).where(col(FeedbackRecord.caller) == caller))
            await session.exec(
                delete(AuditEntry).where(col(AuditEntry.caller) == f"signed:{caller}")
            )

    async def _ids(
        self, of_asks: ColumnElement[bool], of_queued: ColumnElement[bool], limit: int
    ) -> Sequence[str]:
        asks = select(AskRecord.id).where(of_asks).order_by(col(AskRecord.created_at))
        queued = select(QueuedAskRecord.id).where(of_queued)
        async with self._database.read() as session:
            answered = (await session.exec(asks.limit(limit))).all()
            return [*answered, *(await session.exec(queued.limit(limit))).all()]


class AuditEraser:
    """Deletes audit rows.

    Args:
        database: Where the audit is.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def erase(self, ask_ids: Sequence[str], caller: str = "") -> int:
        """Delete the rows of asks, and of one signed caller when it is named.

        Raises:
            DatabaseUnavailableError: Nothing was deleted.
        """
        condition = _is_of(ask_ids)
        if caller:
            condition = or_(condition, col(AuditEntry.caller) == f"signed:{caller}")
        async with self._database.write() as session:
            return (await session.exec(delete(AuditEntry).where(condition))).rowcount

    async def erase_before(self, moment: datetime) -> int:
        """Delete the rows of calls made before a moment."""
        async with self._database.write() as session:
            old = delete(AuditEntry).where(col(AuditEntry.created_at) < moment)
            return (await session.exec(old)).rowcount


def _is_of(ask_ids: Sequence[str]) -> ColumnElement[bool]:
    """Return the condition on rows of these asks; parts of a question have ids below theirs."""
    parts = [col(AuditEntry.ask_id).startswith(f"{ask_id}/", autoescape=True) for ask_id in ask_ids]
    return or_(col(AuditEntry.ask_id).in_(ask_ids), *parts)
