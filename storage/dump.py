"""Every row of a database as lines of JSON, and back: one form for SQLite and PostgreSQL.

The first line names the revision of the tables; a dump is loaded at that revision and brought up
from there, so that one made by an older version, or on the other database, can be restored.
"""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import IO, Any, TypeAlias, cast

from pydantic import JsonValue
from sqlalchemy import Date, DateTime, MetaData, Table, func, insert, select, text
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from storage import migrate
from storage.database import driver_url
from storage.errors import DatabaseUnavailableError, SchemaError

_VERSION_TABLE = "alembic_version"
_BATCH = 500

Row: TypeAlias = dict[str, JsonValue]


def dump(url: str, path: Path) -> Mapping[str, int]:
    """Write every row, as they were at one moment; call it in a thread when a loop runs.

    Args:
        url: As for ``Database``.
        path: Written, compressed.

    Returns:
        Number of rows by table.

    Raises:
        DatabaseUnavailableError: The database cannot be read.
        SchemaError: It was never migrated, or by a newer version.
    """
    migrate.check(url)
    counts: dict[str, int] = {}

    def work(connection: Connection) -> None:
        with gzip.open(path, "wt", encoding="utf-8") as sink:
            sink.write(json.dumps({"revision": migrate.head()}) + "\n")
            for table in _tables(connection):
                counts[table.name] = 0
                for row in connection.execute(select(table)).mappings():
                    line = {"table": table.name, "row": _to_json(dict(row))}
                    sink.write(json.dumps(line, ensure_ascii=False) + "\n")
                    counts[table.name] += 1

    _run(url, work)
    return counts


def load(url: str, path: Path) -> Mapping[str, int]:
    """Put every row of a dump into an empty database, and bring that to this version's tables.

    Args:
        url: As for ``Database``.
        path: What ``dump`` wrote.

    Returns:
        Number of rows by table.

    Raises:
        DatabaseUnavailableError: The database cannot be written.
        SchemaError: It is not empty, or the dump is of a newer version or no dump.
    """
    with _opened(path) as (revision, rows):
        if not migrate.is_known(revision):
            raise SchemaError(f"{path} was made by a newer version: it is at revision {revision}")
        _prepare(url, revision)
        counts: dict[str, int] = {}

        def work(connection: Connection) -> None:
            tables = {table.name: table for table in _tables(connection)}
            for name, batch in _batches(rows):
                table = tables[name]
                connection.execute(insert(table), [_from_json(table, row) for row in batch])
                counts[name] = counts.get(name, 0) + len(batch)
            _advance_sequences(connection, tables.values())

        _run(url, work)
    migrate.upgrade(url)
    return counts


def _prepare(url: str, revision: str) -> None:
    """Bring an empty database to the tables of a dump."""
    if migrate.current(url):
        _run(url, _require_empty)
        migrate.downgrade(url, "base")
    migrate.upgrade(url, revision)


def _require_empty(connection: Connection) -> None:
    for table in _tables(connection):
        if connection.execute(select(func.count()).select_from(table)).scalar_one():
            raise SchemaError(
                f"the database is not empty: there are rows in {table.name}; restore into a new one"
            )


def _tables(connection: Connection) -> list[Table]:
    """Return the tables as the database has them, whatever this version's code says of them."""
    metadata = MetaData()
    metadata.reflect(connection)
    return [table for table in metadata.sorted_tables if table.name != _VERSION_TABLE]


def _to_json(row: Mapping[Any, object]) -> Row:
    return {str(name): _value_to_json(value) for name, value in row.items()}


def _value_to_json(value: object) -> JsonValue:
    if isinstance(value, datetime):
        aware = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
        return aware.isoformat()
    if isinstance(value, date):
        return value.isoformat()
    return cast("JsonValue", value)


def _from_json(table: Table, row: Row) -> dict[str, object]:
    return {name: _value_from_json(table, name, value) for name, value in row.items()}


def _value_from_json(table: Table, name: str, value: JsonValue) -> object:
    kind = table.columns[name].type
    if isinstance(value, str) and isinstance(kind, DateTime):
        return datetime.fromisoformat(value)
    if isinstance(value, str) and isinstance(kind, Date):
        return date.fromisoformat(value)
    return value


@contextmanager
def _opened(path: Path) -> Generator[tuple[str, Iterator[tuple[str, Row]]]]:
    try:
        with gzip.open(path, "rt", encoding="utf-8") as source:
            first = json.loads(source.readline())
            yield str(first["revision"]), _rows(source)
    except (gzip.BadGzipFile, EOFError, ValueError, KeyError, TypeError) as error:
        raise SchemaError(f"{path} is no dump of a database, or is cut off: {error}") from error


def _rows(source: IO[str]) -> Iterator[tuple[str, Row]]:
    for line in source:
        found = json.loads(line)
        yield found["table"], found["row"]


def _batches(rows: Iterator[tuple[str, Row]]) -> Iterator[tuple[str, list[Row]]]:
    name, batch = "", list[Row]()
    for table, row in rows:
        if batch and (table != name or len(batch) == _BATCH):
            yield name, batch
            batch = []
        name = table
        batch.append(row)
    if batch:
        yield name, batch


def _advance_sequences(connection: Connection, tables: Iterable[Table]) -> None:
    """Let PostgreSQL's counters go on behind the rows that came with their numbers."""
    if connection.dialect.name != "postgresql":
        return
    for table in tables:
        for column in table.primary_key.columns:
            sequence = connection.execute(
                text("SELECT pg_get_serial_sequence(:table, :column)"),
                {"table": table.name, "column": column.name},
            ).scalar()
            most = connection.execute(select(func.max(column))).scalar() if sequence else None
            if most is not None:
                connection.execute(
                    text("SELECT setval(:name, :most)"), {"name": sequence, "most": most}
                )


def _run(url: str, work: Callable[[Connection], None]) -> None:
    async def run() -> None:
        engine = create_async_engine(
            driver_url(url), poolclass=NullPool, isolation_level=_isolation(url)
        )
        try:
            async with engine.begin() as connection:
                await connection.run_sync(work)
        finally:
            await engine.dispose()

    try:
        asyncio.run(run())
    except (DBAPIError, OSError) as error:
        raise DatabaseUnavailableError(
            f"the database cannot be read or written: {error}"
        ) from error


def _isolation(url: str) -> str:
    # Both show one moment to the whole transaction.
    return "SERIALIZABLE" if driver_url(url).get_backend_name() == "sqlite" else "REPEATABLE READ"
