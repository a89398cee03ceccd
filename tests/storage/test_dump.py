"""A database comes back whole from its dump, on the same kind of database or the other one."""

from __future__ import annotations

import asyncio
import gzip
import json
import random
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import (
    JSON,
    Boolean,
    Date,
    DateTime,
    Float,
    Integer,
    MetaData,
    Table,
    insert,
    select,
)
from sqlalchemy.engine import Connection
from sqlalchemy.ext.asyncio import create_async_engine

from storage import migrate
from storage.database import driver_url
from storage.dump import dump, load
from storage.errors import SchemaError
from tests.storage.conftest import postgres_url

__all__ = ["postgres_url"]

REVISIONS = [
    script.revision
    for script in reversed(
        list(ScriptDirectory(str(Path(migrate.__file__).parent / "migrations")).walk_revisions())
    )
]
Rows = dict[str, list[dict[str, Any]]]


def on(url: str, work: Callable[[Connection], None]) -> None:
    async def run() -> None:
        engine = create_async_engine(driver_url(url))
        try:
            async with engine.begin() as connection:
                await connection.run_sync(work)
        finally:
            await engine.dispose()

    asyncio.run(run())


def tables_of(connection: Connection) -> list[Table]:
    metadata = MetaData()
    metadata.reflect(connection)
    return [table for table in metadata.sorted_tables if table.name != "alembic_version"]


def value(kind: object, number: int) -> object:  # noqa: PLR0911 - one line a type
    if isinstance(kind, JSON):
        return {"number": number, "text": "Grüße 'mit' \"Zeichen\" \\ 漢"}
    if isinstance(kind, DateTime):
        return datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC) + timedelta(minutes=number)
    if isinstance(kind, Date):
        return date(2026, 1, 1) + timedelta(days=number)
    if isinstance(kind, Boolean):
        return number % 2 == 0
    if isinstance(kind, Integer):
        return number
    if isinstance(kind, Float):
        return number + random.Random(number).random()  # noqa: S311 - any digits
    return f"text {number}\n'quoted' \x7f 漢"


def fill(url: str, rows: int = 3) -> None:
    def work(connection: Connection) -> None:
        for table in tables_of(connection):
            for number in range(1, rows + 1):
                values = {c.name: value(c.type, number) for c in table.columns}
                connection.execute(insert(table).values(values))

    on(url, work)


def rows_of(url: str) -> Rows:
    found: Rows = {}

    def work(connection: Connection) -> None:
        for table in tables_of(connection):
            rows = connection.execute(select(table)).mappings()
            found[table.name] = sorted(
                ({name: comparable(cell) for name, cell in row.items()} for row in rows), key=repr
            )

    on(url, work)
    return found


def comparable(cell: object) -> object:
    if isinstance(cell, datetime):
        return cell.replace(tzinfo=UTC) if cell.tzinfo is None else cell.astimezone(UTC)
    return cell


def test_every_row_comes_back(url: str, tmp_path: Path) -> None:
    migrate.upgrade(url)
    fill(url)
    before = rows_of(url)
    counts = dump(url, tmp_path / "dump.gz")
    assert set(counts.values()) == {3}
    second = f"sqlite:///{tmp_path / 'second.db'}"
    assert load(second, tmp_path / "dump.gz") == counts
    assert rows_of(second) == before


@pytest.mark.postgres
def test_a_dump_of_sqlite_is_loaded_into_postgresql_and_its_counters_go_on(
    postgres_url: str, tmp_path: Path
) -> None:
    first = f"sqlite:///{tmp_path / 'first.db'}"
    migrate.upgrade(first)
    fill(first)
    dump(first, tmp_path / "dump.gz")
    load(postgres_url, tmp_path / "dump.gz")
    assert rows_of(postgres_url) == rows_of(first)

    def add(connection: Connection) -> None:
        (audit,) = (table for table in tables_of(connection) if table.name == "audit")
        free = {c.name: value(c.type, 9) for c in audit.columns if c.name != "id"}
        connection.execute(insert(audit).values(free))

    on(postgres_url, add)
    assert len(rows_of(postgres_url)["audit"]) == 4


def test_a_dump_is_loaded_only_into_an_empty_database(url: str, tmp_path: Path) -> None:
    migrate.upgrade(url)
    dump(url, tmp_path / "dump.gz")
    load(url, tmp_path / "dump.gz")
    fill(url)
    with pytest.raises(SchemaError, match="not empty"):
        load(url, tmp_path / "dump.gz")


@pytest.mark.parametrize(
    "spoilt",
    [b"", b"no dump", gzip.compress(b'{"revision": "9999"}\n')],
    ids=["empty", "prose", "newer"],
)
def test_what_is_no_dump_of_ours_is_refused(spoilt: bytes, tmp_path: Path) -> None:
    path = tmp_path / "dump.gz"
    path.write_bytes(spoilt)
    with pytest.raises(SchemaError):
        load(f"sqlite:///{tmp_path / 'vouch.db'}", path)


@pytest.mark.parametrize("revision", REVISIONS[:-1])
def test_data_of_every_earlier_version_is_brought_up_down_and_up(url: str, revision: str) -> None:
    migrate.upgrade(url, revision)
    fill(url)
    before = rows_of(url)
    migrate.upgrade(url)
    after = rows_of(url)
    for name, rows in before.items():
        shared = set(rows[0]) & set(after[name][0])
        assert [{k: row[k] for k in shared} for row in rows] == [
            {k: row[k] for k in shared} for row in after[name]
        ]
    migrate.downgrade(url, revision)
    assert rows_of(url) == before
    migrate.upgrade(url)
    assert rows_of(url) == after


def test_a_dump_of_an_earlier_version_is_loaded_and_brought_up(tmp_path: Path) -> None:
    old, path = f"sqlite:///{tmp_path / 'old.db'}", tmp_path / "dump.gz"
    migrate.upgrade(old, REVISIONS[0])
    fill(old, rows=1)
    # Without what later versions added: as the dump of that version was.
    rows = [
        {"table": name, "row": {k: jsonable(cell) for k, cell in row.items()}}
        for name, found in rows_of(old).items()
        for row in found
    ]
    lines = [{"revision": REVISIONS[0]}, *rows]
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, lines)).encode()))
    new = f"sqlite:///{tmp_path / 'new.db'}"
    load(new, path)
    migrate.upgrade(old)
    assert rows_of(new) == rows_of(old)


def jsonable(cell: object) -> object:
    return cell.isoformat() if isinstance(cell, datetime) else cell
