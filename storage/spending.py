"""Model tokens by account and UTC day: reserved before a call, settled after it.

Reserving is one conditional update, so that callers at once can never reserve more than is left
between them. What a killed process had reserved stays counted until its day is over: it may have
been spent, and a budget that is exceeded is the worse mistake.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from sqlalchemy import BigInteger, Date, delete, update
from sqlalchemy.dialects.postgresql import insert as insert_postgres
from sqlalchemy.dialects.sqlite import insert as insert_sqlite
from sqlmodel import Field, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from storage.database import Database
from storage.schema import Table


class SpendingRecord(Table, table=True):
    """The tokens of one account on one day.

    Attributes:
        day: In UTC.
        account: A key as ``key-ID``, a caller without one, or ``all`` for everybody together.
        spent: As the model server counted them.
        reserved: By calls under way.
    """

    __tablename__ = "token_spending"  # pyright: ignore[reportAssignmentType] - declared as a method

    day: date = Field(primary_key=True, sa_type=Date)
    account: str = Field(primary_key=True)
    spent: int = Field(default=0, sa_type=BigInteger)
    reserved: int = Field(default=0, sa_type=BigInteger)


@dataclass(frozen=True, slots=True)
class Account:
    """Who pays.

    Attributes:
        name: As in ``SpendingRecord``.
        limit: Tokens a day; zero for no limit.
    """

    name: str
    limit: int = 0


class SpendingStore:
    """Keeps the accounts.

    Args:
        database: Where they are kept.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def reserve(self, day: date, accounts: Sequence[Account], tokens: int) -> Account | None:
        """Reserve tokens on every account, or on none.

        Args:
            day: In UTC.
            accounts: Who pays.
            tokens: At least one.

        Returns:
            The account that has too little left, or None when all have enough.

        Raises:
            DatabaseUnavailableError: The database cannot be written.
        """
        # Always in one order, so that two callers never wait for each other.
        ordered = sorted(accounts, key=lambda one: one.name)
        try:
            async with self._database.write() as session:
                for account in ordered:
                    await self._make(session, day, account.name)
                    await _take(session, day, account, tokens)
        except _ShortError as short:
            return short.account
        return None

    async def settle(
        self, day: date, accounts: Sequence[Account], *, reserved: int, spent: int
    ) -> None:
        """Put what was spent in the place of what was reserved.

        Raises:
            DatabaseUnavailableError: The database cannot be written.
        """
        async with self._database.write() as session:
            for name in sorted(one.name for one in accounts):
                await self._make(session, day, name)
                await session.exec(
                    update(SpendingRecord)
                    .where(col(SpendingRecord.day) == day, col(SpendingRecord.account) == name)
                    .values(
                        reserved=col(SpendingRecord.reserved) - reserved,
                        spent=col(SpendingRecord.spent) + spent,
                    )
                )

    async def on(self, day: date) -> Mapping[str, SpendingRecord]:
        """Return every account of a day, by name.

        Raises:
            DatabaseUnavailableError: The database cannot be read.
        """
        query = select(SpendingRecord).where(col(SpendingRecord.day) == day)
        async with self._database.read() as session:
            return {one.account: one for one in (await session.exec(query)).all()}

    async def purge(self, before: date) -> int:
        """Delete the accounts of days before ``before``; returns how many."""
        async with self._database.write() as session:
            gone = delete(SpendingRecord).where(col(SpendingRecord.day) < before)
            return (await session.exec(gone)).rowcount

    async def _make(self, session: AsyncSession, day: date, name: str) -> None:
        """Make the row of an account unless it is there."""
        insert = insert_sqlite if self._database.is_sqlite else insert_postgres
        row = insert(SpendingRecord).values(day=day, account=name, spent=0, reserved=0)
        connection = await session.connection()
        await connection.execute(row.on_conflict_do_nothing())


class _ShortError(Exception):
    """An account has too little left: leaves the transaction, which then takes nothing."""

    def __init__(self, account: Account) -> None:
        super().__init__(account.name)
        self.account = account


async def _take(session: AsyncSession, day: date, account: Account, tokens: int) -> None:
    taken = col(SpendingRecord.spent) + col(SpendingRecord.reserved) + tokens
    has_room = [taken <= account.limit] if account.limit else []
    found = await session.exec(
        update(SpendingRecord)
        .where(
            col(SpendingRecord.day) == day, col(SpendingRecord.account) == account.name, *has_room
        )
        .values(reserved=col(SpendingRecord.reserved) + tokens)
    )
    if found.rowcount != 1:
        raise _ShortError(account)
