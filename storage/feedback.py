"""What people thought of an answer: one thumb each, with a reason."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from sqlalchemy import Text
from sqlmodel import Field, col, select

from storage.asks import AskRecord
from storage.columns import UtcDateTime, utc_now
from storage.database import Database
from storage.schema import Table


class FeedbackRecord(Table, table=True):
    """One caller's thumb on one ask; a later one takes its place.

    Attributes:
        thumb: ``up`` or ``down``.
        reason: A short code chosen from the page's list; empty when none was chosen.
    """

    __tablename__ = "feedback"  # pyright: ignore[reportAssignmentType] - declared as a method

    ask_id: str = Field(primary_key=True)
    caller: str = Field(primary_key=True)
    created_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime, index=True)
    thumb: str = Field(index=True)
    reason: str = ""
    comment: str = Field(default="", sa_type=Text)


class FeedbackStore:
    """Saves and finds feedback.

    Args:
        database: Where it is kept.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, feedback: FeedbackRecord) -> bool:
        """Store a thumb; says whether there is an ask that it belongs to.

        Raises:
            DatabaseUnavailableError: It could not be stored.
        """
        async with self._database.write() as session:
            if await session.get(AskRecord, feedback.ask_id) is None:
                return False
            await session.merge(feedback)
            return True

    async def newest(self, ask_ids: Collection[str]) -> Mapping[str, FeedbackRecord]:
        """Return the newest feedback on each of these asks; those without are left out.

        Raises:
            DatabaseUnavailableError: The database cannot be read.
        """
        query = (
            select(FeedbackRecord)
            .where(col(FeedbackRecord.ask_id).in_(ask_ids))
            .order_by(col(FeedbackRecord.created_at))
        )
        async with self._database.read() as session:
            return {found.ask_id: found for found in (await session.exec(query)).all()}
