"""A few figures of every recorded ask, light enough to read them all for a chart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from sqlalchemy.orm import QueryableAttribute, load_only
from sqlmodel import col, select

from storage.asks import AskRecord
from storage.database import Database


@dataclass(frozen=True, slots=True)
class AskFigures:
    """What one ask came to.

    Attributes:
        lowest_support: Of its citations, in [0, 1]; None without any.
    """

    created_at: datetime
    status: str
    lowest_support: float | None
    fidelity: str


async def read_figures(
    database: Database,
    *,
    since: datetime,
    limit: int,
    may_read: Callable[[Sequence[str]], bool] = lambda _: True,
) -> Sequence[AskFigures]:
    """Return the figures of the newest asks, newest first.

    Args:
        database: Where the records are kept.
        since: Aware; only asks made at this moment or later.
        limit: At most this many are looked at.
        may_read: Whether records with these labels may count.

    Raises:
        DatabaseUnavailableError: The database cannot be read.
    """
    # The other columns hold whole answers and stay in the database.
    columns = (
        AskRecord.created_at,
        AskRecord.status,
        AskRecord.lowest_support,
        AskRecord.fidelity,
        AskRecord.labels,
    )
    # Of a table's class they are attributes to query by, whatever a row's types are.
    light = load_only(*(cast("QueryableAttribute[object]", column) for column in columns))
    query = (
        select(AskRecord)
        .options(light)
        .where(col(AskRecord.created_at) >= since)
        .order_by(col(AskRecord.created_at).desc())
        .limit(limit)
    )
    async with database.read() as session:
        return [
            AskFigures(ask.created_at, ask.status, ask.lowest_support, ask.fidelity)
            for ask in await session.exec(query)
            if may_read(ask.labels)
        ]
