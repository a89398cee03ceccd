"""Brings a database to the schema of this code, and refuses one from the future.

One tree of migrations serves both the API's database and the tool server's audit: with PostgreSQL
they are the same database, and with SQLite each file simply has tables it does not use.

Every run is one transaction on either database: one that fails or is killed leaves what was there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, event, text
from sqlalchemy.engine import URL, Connection
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry, NullPool

from storage.database import driver_url
from storage.errors import DatabaseUnavailableError, SchemaError

_MIGRATIONS = Path(__file__).parent / "migrations"
# Any number will do, as long as every migrator asks PostgreSQL for the same lock.
_ADVISORY_LOCK = 7_086_824

_CONNECT_SECONDS = 10.0

_Work = Callable[[Connection], None]


def upgrade(url: str, revision: str = "head") -> str:
    """Bring the database up; call it in a thread when a loop runs.

    Args:
        url: As for ``Database``.
        revision: Where to stop.

    Returns:
        The revision the database is at.

    Raises:
        SchemaError: The database is newer than this code.
        DatabaseUnavailableError: It cannot be reached.
    """

    def work(connection: Connection) -> None:
        _refuse_newer(connection)
        command.upgrade(_config(connection), revision)

    _run(url, work, writes=True)
    return current(url)


def downgrade(url: str, revision: str) -> None:
    """Bring the database down to an earlier revision; ``base`` empties it."""

    def work(connection: Connection) -> None:
        _refuse_newer(connection)
        command.downgrade(_config(connection), revision)

    _run(url, work, writes=True)


def current(url: str) -> str:
    """Return the database's revision; empty for one never migrated."""
    found: list[str] = []
    _run(url, lambda connection: found.append(_revision(connection)), writes=False)
    return found[0]


def head() -> str:
    """Return the newest revision this code knows."""
    return ScriptDirectory(str(_MIGRATIONS)).get_current_head() or ""


def is_known(revision: str) -> bool:
    """Return whether this code has a migration of that name."""
    scripts = ScriptDirectory(str(_MIGRATIONS)).walk_revisions()
    return revision in {script.revision for script in scripts}


def check(url: str) -> None:
    """Do nothing when the database's schema is the one of this code.

    Raises:
        SchemaError: It is older or newer; says what to do.
        DatabaseUnavailableError: It cannot be reached.
    """
    _run(url, require_current, writes=False)


def require_current(connection: Connection) -> None:
    """Do nothing when the schema behind an open connection is the one of this code.

    Raises:
        SchemaError: It is older or newer; says what to do.
    """
    _refuse_newer(connection)
    if _revision(connection) != head():
        raise SchemaError("the database is older than this program: run `vouch migrate`")


def _refuse_newer(connection: Connection) -> None:
    revision = _revision(connection)
    if revision and not is_known(revision):
        raise SchemaError(
            f"the database is at revision {revision}, which this program does not know: "
            "it was migrated by a newer version; install that version or restore a backup"
        )


def _revision(connection: Connection) -> str:
    return MigrationContext.configure(connection).get_current_revision() or ""


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    config.attributes["connection"] = connection
    return config


def _run(url: str, work: _Work, *, writes: bool) -> None:
    address = driver_url(url)
    try:
        if address.get_backend_name() == "sqlite":
            _run_in_file(address, work, writes=writes)
        else:
            asyncio.run(_run_on_server(address, work))
    except (DBAPIError, OSError) as error:
        reason = error.orig if isinstance(error, DBAPIError) else error
        raise DatabaseUnavailableError(
            f"the database cannot be reached or changed: {reason}"
        ) from error


def _run_in_file(address: URL, work: _Work, *, writes: bool) -> None:
    """Work on a SQLite file, with the driver that needs no thread of its own."""
    engine = create_engine(address.set(drivername="sqlite"), poolclass=NullPool)

    def take_over(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
        # By its own rules the driver would commit every change of a table at once, and a run that
        # is killed would leave tables that the next one stumbles over.
        connection.isolation_level = None

    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    event.listen(engine, "connect", take_over)
    event.listen(engine, "begin", begin)
    with engine.begin() as connection:
        work(connection)


async def _run_on_server(address: URL, work: _Work) -> None:
    engine = create_async_engine(
        address, poolclass=NullPool, connect_args={"timeout": _CONNECT_SECONDS}
    )
    try:
        async with engine.begin() as connection:
            await connection.execute(
                text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ADVISORY_LOCK}
            )
            await connection.run_sync(work)
    finally:
        await engine.dispose()
