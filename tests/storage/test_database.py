"""A database that is locked or gone is a typed error, and is used again once it is back."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import text

from storage import migrate
from storage.audit import AuditEntry, AuditLog
from storage.database import Database, database_url, driver_url
from storage.errors import DatabaseUnavailableError, SchemaError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    migrate.upgrade(database_url("", tmp_path, "vouch"))
    return tmp_path / "vouch.db"


def entry() -> AuditEntry:
    return AuditEntry(ask_id="a", branch="guard", tool="search_kb")


async def test_a_file_locked_by_another_process_is_an_error_and_then_used_again(path: Path) -> None:
    database = Database(f"sqlite:///{path}")
    await database.ping()
    log = AuditLog(database)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(DatabaseUnavailableError):
        await log.append(entry())
    assert await log.of_ask("a") == []
    other.execute("ROLLBACK")
    other.close()
    await log.append(entry())
    assert len(await log.of_ask("a")) == 1
    await database.close()


async def test_a_failed_block_changes_nothing(path: Path) -> None:
    database = Database(f"sqlite:///{path}")

    async def fail() -> None:
        async with database.write() as session:
            session.add(entry())
            await session.flush()
            raise RuntimeError("the block fails")

    with pytest.raises(RuntimeError):
        await fail()
    assert await AuditLog(database).of_ask("a") == []
    await database.close()


async def test_a_file_without_tables_is_an_error_of_ours(tmp_path: Path) -> None:
    database = Database(database_url("", tmp_path, "empty"))
    with pytest.raises(DatabaseUnavailableError):
        await AuditLog(database).append(entry())
    await database.close()


async def test_write_ahead_logging_and_foreign_keys_are_on(path: Path) -> None:
    database = Database(f"sqlite:///{path}")
    async with database.read() as session:
        connection = await session.connection()
        mode = (await connection.execute(text("PRAGMA journal_mode"))).scalar()
        keys = (await connection.execute(text("PRAGMA foreign_keys"))).scalar()
    assert (mode, keys) == ("wal", 1)
    await database.ping()
    await database.close()


def test_addresses_without_a_driver_get_the_asynchronous_one() -> None:
    assert driver_url("postgresql://u@h/d").drivername == "postgresql+asyncpg"
    assert driver_url("postgres://u@h/d").drivername == "postgresql+asyncpg"
    assert driver_url("sqlite:///x").drivername == "sqlite+aiosqlite"
    assert driver_url("sqlite+aiosqlite:///x").drivername == "sqlite+aiosqlite"


async def test_tables_are_looked_at_before_the_first_session_and_by_many_at_once(url: str) -> None:
    database = Database(url, schema=migrate.require_current)
    with pytest.raises(SchemaError, match="vouch migrate"):
        await database.ping()
    await asyncio.to_thread(migrate.upgrade, url)
    await asyncio.gather(*(database.ping() for _ in range(8)))
    await database.close()
