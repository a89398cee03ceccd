"""Migrations on both databases, with data in them."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from storage import migrate
from storage.audit import AuditEntry, AuditLog
from storage.database import Database, driver_url
from storage.errors import DatabaseUnavailableError, SchemaError
from storage.tables import METADATA


async def _execute(database: Database, statement: str) -> None:
    async with database.write() as session:
        await (await session.connection()).execute(text(statement))


def use(url: str, work: Callable[[Database], Awaitable[None]]) -> None:
    async def run() -> None:
        database = Database(url)
        try:
            await work(database)
        finally:
            await database.close()

    asyncio.run(run())


async def write_and_read(database: Database) -> None:
    log = AuditLog(database)
    await log.append(AuditEntry(ask_id="a", branch="guard", tool="search_kb"))
    assert len(await log.of_ask("a")) == 1


def test_up_down_up_works_with_data(url: str) -> None:
    assert migrate.upgrade(url) == migrate.head()
    use(url, write_and_read)
    migrate.downgrade(url, "base")
    assert migrate.current(url) == ""
    assert migrate.upgrade(url) == migrate.head()
    use(url, write_and_read)


def test_upgrading_twice_changes_nothing(url: str) -> None:
    migrate.upgrade(url)
    use(url, write_and_read)
    migrate.upgrade(url)
    migrate.check(url)


def test_the_migrations_make_exactly_the_tables_of_the_code(url: str) -> None:
    migrate.upgrade(url)
    differences: list[object] = []

    async def run() -> None:
        engine = create_async_engine(driver_url(url))
        async with engine.connect() as connection:
            await connection.run_sync(
                lambda sync: differences.extend(
                    compare_metadata(
                        MigrationContext.configure(sync, opts={"compare_type": True}), METADATA
                    )
                )
            )
        await engine.dispose()

    asyncio.run(run())
    assert differences == []


def test_a_database_from_the_future_is_refused(url: str) -> None:
    migrate.upgrade(url)

    async def age(database: Database) -> None:
        async with database.write() as session:
            await (await session.connection()).execute(
                text("UPDATE alembic_version SET version_num = '9999'")
            )

    use(url, age)
    with pytest.raises(SchemaError, match="newer version"):
        migrate.check(url)
    with pytest.raises(SchemaError, match="newer version"):
        migrate.upgrade(url)


def test_a_database_never_migrated_is_told_the_command(url: str) -> None:
    with pytest.raises(SchemaError, match="vouch migrate"):
        migrate.check(url)


def test_an_upgrade_that_breaks_leaves_the_database_as_it_was(url: str) -> None:
    use(url, lambda database: _execute(database, "CREATE TABLE jobs (id INTEGER)"))
    with pytest.raises(DatabaseUnavailableError):
        migrate.upgrade(url)
    assert migrate.current(url) == ""
    use(url, lambda database: _execute(database, "DROP TABLE jobs"))
    assert migrate.upgrade(url) == migrate.head()
    use(url, write_and_read)


def test_an_upgrade_killed_half_way_is_done_by_the_next(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'vouch.db'}"
    killed = (
        "import os, sys\n"
        "from sqlalchemy import Engine, event\n"
        "from storage import migrate\n"
        "def after(_connection, _cursor, statement, *_):\n"
        "    if 'CREATE TABLE asks' in statement:\n"
        "        os._exit(9)\n"
        "event.listen(Engine, 'after_cursor_execute', after)\n"
        "migrate.upgrade(sys.argv[1])\n"
    )
    command = [sys.executable, "-c", killed, url]
    assert subprocess.run(command, check=False, timeout=60).returncode == 9
    assert migrate.upgrade(url) == migrate.head()
    use(url, write_and_read)


def test_a_folder_without_a_database_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnavailableError, match="unable to open"):
        migrate.upgrade(f"sqlite:///{tmp_path / 'missing' / 'vouch.db'}")


def test_an_unreachable_database_is_a_typed_error() -> None:
    with pytest.raises(DatabaseUnavailableError):
        migrate.check("postgresql://nobody@127.0.0.1:9/none")
