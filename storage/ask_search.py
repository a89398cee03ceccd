"""Finds recorded asks by what became of them, newest first."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement
from sqlmodel import col, select

from storage.asks import AskRecord
from storage.database import Database
from storage.feedback import FeedbackRecord


@dataclass(frozen=True, slots=True)
class AskFilter:
    """Which asks to show; an empty field does not filter.

    Attributes:
        status: ``answered``, ``abstained`` or ``needs_clarification``.
        reason: Of the refusal.
        fidelity: Verdict on the evidence.
        support_below: Lowest support of a citation under this share, in [0, 1].
        thumb: The newest feedback, ``up`` or ``down``.
        since: Only asks made at this moment or later.
        before: Only asks made before this moment.
    """

    status: str = ""
    reason: str = ""
    fidelity: str = ""
    source: str = ""
    model: str = ""
    support_below: float | None = None
    thumb: str = ""
    since: datetime | None = None
    before: datetime | None = None


class AskSearch:
    """Searches the records.

    Args:
        database: Where they are kept.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(
        self,
        wanted: AskFilter,
        *,
        limit: int,
        may_read: Callable[[Sequence[str]], bool] = lambda _: True,
    ) -> Sequence[AskRecord]:
        """Return at most ``limit`` records, newest first.

        Args:
            wanted: Which asks to show.
            limit: At most this many.
            may_read: Whether records with these labels may be shown. Hidden ones do not count, so
                that a page that is not full tells nothing about them.

        Raises:
            DatabaseUnavailableError: The database cannot be read.
        """
        query = (
            select(AskRecord)
            .where(*_conditions(wanted))
            .order_by(col(AskRecord.created_at).desc(), col(AskRecord.id))
        )
        shown: list[AskRecord] = []
        async with self._database.read() as session:
            for start in itertools.count(0, limit):
                batch = (await session.exec(query.offset(start).limit(limit))).all()
                shown += [record for record in batch if may_read(record.labels)]
                if len(shown) >= limit or len(batch) < limit:
                    break
        return shown[:limit]

    async def models(self) -> Sequence[str]:
        """Return the names of all models that answered.

        Raises:
            DatabaseUnavailableError: The database cannot be read.
        """
        query = select(AskRecord.model).distinct().order_by(col(AskRecord.model))
        async with self._database.read() as session:
            return (await session.exec(query)).all()


def _conditions(wanted: AskFilter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    for column, value in (
        (AskRecord.status, wanted.status or None),
        (AskRecord.reason, wanted.reason or None),
        (AskRecord.fidelity, wanted.fidelity or None),
        (AskRecord.source, wanted.source or None),
        (AskRecord.model, wanted.model or None),
    ):
        if value is not None:
            conditions.append(col(column) == value)
    if wanted.support_below is not None:
        conditions.append(col(AskRecord.lowest_support) < wanted.support_below)
    if wanted.since is not None:
        conditions.append(col(AskRecord.created_at) >= wanted.since)
    if wanted.before is not None:
        conditions.append(col(AskRecord.created_at) < wanted.before)
    if wanted.thumb:
        thumbs = select(FeedbackRecord.ask_id).where(col(FeedbackRecord.thumb) == wanted.thumb)
        conditions.append(col(AskRecord.id).in_(thumbs))
    return conditions
