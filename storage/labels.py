"""What a reviewer decided about an ask: the ground that sets and calibrations are made on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Text
from sqlmodel import Field, col, select

from storage.asks import AskRecord
from storage.columns import UtcDateTime, utc_now
from storage.database import Database
from storage.schema import Table


class LabelRecord(Table, table=True):
    """The label of one ask; a later one takes its place.

    Attributes:
        label: ``right``, ``should_have_answered``, ``should_have_refused`` or ``wrong_citation``.
        reviewer: Who labelled it.
    """

    __tablename__ = "labels"  # pyright: ignore[reportAssignmentType] - declared as a method

    ask_id: str = Field(primary_key=True)
    created_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime, index=True)
    label: str = Field(index=True)
    reviewer: str = ""
    comment: str = Field(default="", sa_type=Text)


@dataclass(frozen=True, slots=True)
class LabelledAsk:
    """A record with its label."""

    record: AskRecord
    label: LabelRecord


class LabelStore:
    """Saves and finds labels.

    Args:
        database: Where they are kept.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, label: LabelRecord) -> bool:
        """Store a label; says whether there is an ask that it belongs to.

        Raises:
            DatabaseUnavailableError: It could not be stored.
        """
        async with self._database.write() as session:
            if await session.get(AskRecord, label.ask_id) is None:
                return False
            await session.merge(label)
            return True

    async def find(self, ask_id: str) -> LabelRecord | None:
        """Return the label of an ask, or None.

        Raises:
            DatabaseUnavailableError: The database cannot be read.
        """
        async with self._database.read() as session:
            return await session.get(LabelRecord, ask_id)

    async def labelled(self, *, limit: int) -> Sequence[LabelledAsk]:
        """Return labelled asks, the last labelled first.

        Raises:
            DatabaseUnavailableError: The database cannot be read.
        """
        query = (
            select(AskRecord, LabelRecord)
            .where(col(AskRecord.id) == col(LabelRecord.ask_id))
            .order_by(col(LabelRecord.created_at).desc(), col(LabelRecord.ask_id))
            .limit(limit)
        )
        async with self._database.read() as session:
            return [LabelledAsk(record, label) for record, label in await session.exec(query)]
