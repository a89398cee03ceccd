"""One row for every tool call, written by the tool server with the caller's signed claims."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TypedDict

from pydantic import JsonValue
from sqlalchemy import JSON, delete, insert
from sqlmodel import Field, col, select

from storage.columns import UtcDateTime, utc_now
from storage.database import Database
from storage.schema import Table


class AuditEntry(Table, table=True):
    """One tool call as the server saw it.

    Attributes:
        ask_id: From the caller's token; empty for a call outside an ask.
        branch: From the caller's token: agent, guard, gateway, direct or service.
        caller: Who called: the token's subject.
        cosines: Of the returned chunks, in their order.
        build: The index build that answered.
        milliseconds: Duration inside the server.
        error: Code of the failure; empty on success.
        tokens_in: Tokens of the texts given, for tools that count them.
        tokens_out: Tokens of the texts returned.
    """

    __tablename__ = "audit"  # pyright: ignore[reportAssignmentType] - declared as a method

    id: int | None = Field(default=None, primary_key=True)
    created_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime, index=True)
    ask_id: str = Field(default="", index=True)
    branch: str
    caller: str = ""
    request_id: str = ""
    tool: str
    arguments: dict[str, JsonValue] = Field(default_factory=dict, sa_type=JSON)
    chunk_ids: list[str] = Field(default_factory=list, sa_type=JSON)
    cosines: list[float] = Field(default_factory=list, sa_type=JSON)
    build: str = ""
    milliseconds: float = 0.0
    error: str = ""
    tokens_in: int = 0
    tokens_out: int = 0


class AuditValues(TypedDict):
    """The values of one row to be stored; names and meaning as in ``AuditEntry``."""

    created_at: datetime
    ask_id: str
    branch: str
    caller: str
    request_id: str
    tool: str
    arguments: dict[str, JsonValue]
    chunk_ids: list[str]
    cosines: list[float]
    build: str
    milliseconds: float
    error: str
    tokens_in: int
    tokens_out: int


class AuditLog:
    """Appends and reads audit rows.

    Args:
        database: Where the rows are kept.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def append(self, entry: AuditEntry) -> None:
        """Store one row; it is committed when this returns.

        Raises:
            DatabaseUnavailableError: The row could not be stored.
        """
        async with self._database.write() as session:
            session.add(entry)

    async def append_all(self, rows: Sequence[AuditValues]) -> None:
        """Store rows in one transaction; they are committed when this returns.

        The values go to the database as they are, without an object each, which costs a quarter of
        the time at thirty rows: the tool server writes several rows for every question.

        Raises:
            DatabaseUnavailableError: The rows could not be stored.
        """
        async with self._database.write() as session:
            connection = await session.connection()
            await connection.execute(insert(AuditEntry), [dict(row) for row in rows])

    async def of_ask(self, ask_id: str) -> Sequence[AuditEntry]:
        """Return the rows of one ask in the order they were written.

        Raises:
            DatabaseUnavailableError: The database cannot be read.
        """
        query = (
            select(AuditEntry).where(col(AuditEntry.ask_id) == ask_id).order_by(col(AuditEntry.id))
        )
        async with self._database.read() as session:
            return (await session.exec(query)).all()

    async def of_caller(self, caller: str, start: datetime, end: datetime) -> Sequence[AuditEntry]:
        """Return one caller's rows written in [start, end], in order.

        This is how calls of a gateway that cannot pass a token per ask are tied to an ask.
        """
        query = (
            select(AuditEntry)
            .where(
                col(AuditEntry.caller) == caller,
                col(AuditEntry.created_at) >= start,
                col(AuditEntry.created_at) <= end,
            )
            .order_by(col(AuditEntry.id))
        )
        async with self._database.read() as session:
            return (await session.exec(query)).all()

    async def purge(self, before: datetime) -> int:
        """Delete rows older than ``before``; returns how many."""
        async with self._database.write() as session:
            result = await session.exec(
                delete(AuditEntry).where(col(AuditEntry.created_at) < before)
            )
            return result.rowcount
