"""The SQL database: SQLite in a file by default, PostgreSQL when an address is given.

On SQLite all writes go through one connection and start with ``BEGIN IMMEDIATE``: writers queue in
this process, where waiting is cheap, and never meet the file's lock. Readers have connections of
their own, which write-ahead logging lets run beside the writer.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol, TypeAlias, cast

from sqlalchemy import event, text
from sqlalchemy.engine import URL, Connection, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncEngine, async_sessionmaker, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry
from sqlmodel.ext.asyncio.session import AsyncSession

from storage.errors import DatabaseUnavailableError

_DRIVERS = {
    "sqlite": "sqlite+aiosqlite",
    "postgresql": "postgresql+asyncpg",
    "postgres": "postgresql+asyncpg",
}
# Only another process can hold the file's lock: a migration or a backup, for a moment.
_BUSY_TIMEOUT_MILLISECONDS = 2000
_SQLITE_READERS = 4
_POSTGRES_CONNECTIONS = 10

SchemaCheck: TypeAlias = Callable[[Connection], None]


def database_url(url: str | None, data_dir: Path, name: str) -> str:
    """Return the address to use.

    Args:
        url: The configured address; None or empty means a SQLite file.
        data_dir: Folder of that file; made when missing.
        name: Name of the file without its ending: ``vouch`` or ``audit``.
    """
    if url:
        return url
    data_dir.mkdir(parents=True, exist_ok=True)
    return f"sqlite:///{(data_dir / f'{name}.db').resolve()}"


def driver_url(url: str) -> URL:
    """Return the address with the asynchronous driver in its scheme."""
    parsed = make_url(url)
    return parsed.set(drivername=_DRIVERS.get(parsed.drivername, parsed.drivername))


class AsyncDriver(Protocol):
    """A connection of SQLite's asynchronous driver."""

    async def execute(self, sql: str) -> object:
        """Run one statement."""
        ...


class Database:
    """Sessions for reading and for writing, each under a deadline.

    Args:
        url: ``sqlite:///path`` or ``postgresql://user@host/name``.
        timeout_seconds: Longest time a whole session may take, waiting included.
        schema: Refuses a database whose tables are not those of this code; asked before the first
            session, however long after the start that is. None: somebody else has looked.
    """

    def __init__(
        self, url: str, *, timeout_seconds: float = 10.0, schema: SchemaCheck | None = None
    ) -> None:
        address = driver_url(url)
        self._schema = schema
        self.is_sqlite = address.get_backend_name() == "sqlite"
        self._timeout_seconds = timeout_seconds
        if self.is_sqlite:
            self._writer = _sqlite_engine(address, timeout_seconds, connections=1, is_writer=True)
            self._reader = _sqlite_engine(
                address, timeout_seconds, connections=_SQLITE_READERS, is_writer=False
            )
        else:
            self._writer = create_async_engine(
                address,
                hide_parameters=True,
                pool_pre_ping=True,
                pool_size=_POSTGRES_CONNECTIONS,
                pool_timeout=timeout_seconds,
                connect_args={"timeout": timeout_seconds},
            )
            self._reader = self._writer
        self._write_session = async_sessionmaker(
            self._writer, class_=AsyncSession, expire_on_commit=False
        )
        self._read_session = async_sessionmaker(
            self._reader, class_=AsyncSession, expire_on_commit=False
        )

    @asynccontextmanager
    async def write(self) -> AsyncGenerator[AsyncSession]:
        """A transaction that commits at the end of the block.

        Raises:
            DatabaseUnavailableError: Unreachable, locked, or over the deadline.
            SchemaError: Its tables are not those of this code.
        """
        async with self._guarded():
            await self._require_schema()
            async with self._write_session() as session, session.begin():
                yield session

    @asynccontextmanager
    async def read(self) -> AsyncGenerator[AsyncSession]:
        """A session for queries.

        Raises:
            DatabaseUnavailableError: Unreachable, or over the deadline.
            SchemaError: Its tables are not those of this code.
        """
        async with self._guarded():
            await self._require_schema()
            async with self._read_session() as session:
                yield session

    async def ping(self) -> None:
        """Do nothing when the database answers.

        Raises:
            DatabaseUnavailableError: It does not.
        """
        async with self.read() as session:
            await (await session.connection()).execute(text("SELECT 1"))

    async def wipe_log(self) -> None:
        """Empty SQLite's write-ahead log, which holds old pages of what was deleted.

        What another connection still reads from it stays until the next time. PostgreSQL does
        likewise by itself.

        Raises:
            DatabaseUnavailableError: Unreachable, or over the deadline.
        """
        if not self.is_sqlite:
            return
        async with self._guarded(), self._writer.connect() as connection:
            # Past the engine, which would begin a transaction, in which nothing can be emptied.
            raw = await connection.get_raw_connection()
            driver = cast("AsyncDriver", raw.driver_connection)
            await driver.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    async def close(self) -> None:
        """Close every connection."""
        await self._writer.dispose()
        if self._reader is not self._writer:
            await self._reader.dispose()

    async def _require_schema(self) -> None:
        schema = self._schema
        if schema is None:
            return
        # Several first sessions may look at once; they see the same.
        async with self._reader.connect() as connection:
            await connection.run_sync(schema)
        self._schema = None

    @asynccontextmanager
    async def _guarded(self) -> AsyncGenerator[None]:
        try:
            async with asyncio.timeout(self._timeout_seconds):
                yield
        except TimeoutError as error:
            raise DatabaseUnavailableError("the database did not answer in time") from error
        except (PoolTimeoutError, OSError) as error:
            raise DatabaseUnavailableError("the database cannot be reached or written") from error
        except DBAPIError as error:
            if not _is_outage(error):
                raise
            raise DatabaseUnavailableError("the database cannot be reached or written") from error


def _is_outage(error: DBAPIError) -> bool:
    # A connection that breaks in the middle of a statement has no class of its own: the driver's
    # general error is wrapped as the base class itself.
    is_general = type(error) is DBAPIError
    return (
        is_general
        or error.connection_invalidated
        or isinstance(error, OperationalError | InterfaceError)
    )


def _sqlite_engine(
    address: URL, timeout_seconds: float, *, connections: int, is_writer: bool
) -> AsyncEngine:
    engine = create_async_engine(
        address,
        hide_parameters=True,
        pool_size=connections,
        max_overflow=0,
        pool_timeout=timeout_seconds,
    )

    def prepare(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
        # The driver would begin transactions by its own rules; ``begin`` below decides instead.
        connection.isolation_level = None
        cursor = connection.cursor()
        for pragma in (
            f"busy_timeout={_BUSY_TIMEOUT_MILLISECONDS}",
            "journal_mode=WAL",
            "synchronous=NORMAL",
            "foreign_keys=ON",
            # What is deleted is overwritten, not only unlinked.
            "secure_delete=ON",
        ):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writer else "BEGIN")

    event.listen(engine.sync_engine, "connect", prepare)
    event.listen(engine.sync_engine, "begin", begin)
    return engine
