"""Audit rows come back as they were written, and writers do not meet a lock."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta, timezone

import pytest

from storage import migrate
from storage.audit import AuditEntry, AuditLog, AuditValues
from storage.database import Database
from storage.errors import DatabaseUnavailableError


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    await asyncio.to_thread(migrate.upgrade, url)
    opened = Database(url)
    yield opened
    await opened.close()


def entry(ask_id: str = "a", *, caller: str = "", created_at: datetime | None = None) -> AuditEntry:
    made = AuditEntry(
        ask_id=ask_id,
        branch="agent",
        caller=caller,
        tool="search_kb",
        arguments={"query": "q", "top_k": 4},
        chunk_ids=["one", "two"],
        cosines=[0.5, -0.25],
        build="b1",
        milliseconds=1.5,
    )
    if created_at is not None:
        made.created_at = created_at
    return made


async def test_a_row_comes_back_as_it_was_written(database: Database) -> None:
    log = AuditLog(database)
    moment = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=2)))
    await log.append(entry(created_at=moment))
    (row,) = await log.of_ask("a")
    assert (row.chunk_ids, row.cosines, row.arguments) == (
        ["one", "two"],
        [0.5, -0.25],
        {"query": "q", "top_k": 4},
    )
    assert row.created_at == moment
    assert row.created_at.tzinfo is UTC


async def test_rows_stored_together_come_back_as_they_were_given(database: Database) -> None:
    log = AuditLog(database)
    moment = datetime(2026, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)
    rows = [
        AuditValues(
            created_at=moment,
            ask_id="a",
            branch="guard",
            caller="signed",
            request_id="r",
            tool="search_kb",
            arguments={"query": f"q{number}", "top_k": 4},
            chunk_ids=["one"],
            cosines=[0.5],
            build="b1",
            milliseconds=1.5,
            error="",
            tokens_in=3,
            tokens_out=number,
        )
        for number in range(40)
    ]
    await log.append_all(rows)
    found = await log.of_ask("a")
    assert [row.model_dump(exclude={"id"}) for row in found] == rows


async def test_rows_of_another_ask_stay_out(database: Database) -> None:
    log = AuditLog(database)
    await log.append(entry("a"))
    await log.append(entry("b"))
    assert [row.ask_id for row in await log.of_ask("b")] == ["b"]


async def test_rows_of_a_caller_are_found_by_time(database: Database) -> None:
    log = AuditLog(database)
    start = datetime(2026, 1, 1, tzinfo=UTC)
    for minute in (0, 5, 10):
        await log.append(entry(caller="gateway", created_at=start + timedelta(minutes=minute)))
    await log.append(entry(caller="other", created_at=start + timedelta(minutes=5)))
    found = await log.of_caller("gateway", start, start + timedelta(minutes=5))
    assert [row.created_at.minute for row in found] == [0, 5]


async def test_purging_deletes_only_what_is_older(database: Database) -> None:
    log = AuditLog(database)
    start = datetime(2026, 1, 1, tzinfo=UTC)
    await log.append(entry(created_at=start))
    await log.append(entry(created_at=start + timedelta(days=1)))
    assert await log.purge(start + timedelta(hours=1)) == 1
    assert len(await log.of_ask("a")) == 1


async def test_two_hundred_writers_at_once_never_meet_a_lock(database: Database) -> None:
    log = AuditLog(database)
    async with asyncio.TaskGroup() as group:
        for _ in range(200):
            group.create_task(log.append(entry()))
            group.create_task(log.of_ask("nobody"))
    assert len(await log.of_ask("a")) == 200


async def test_a_time_without_a_zone_is_refused(database: Database) -> None:
    with pytest.raises(Exception, match="needs a zone"):
        await AuditLog(database).append(entry(created_at=datetime(2026, 1, 1)))  # noqa: DTZ001


async def test_a_database_that_is_down_is_a_typed_error() -> None:
    database = Database("postgresql://nobody@127.0.0.1:9/none", timeout_seconds=2)
    with pytest.raises(DatabaseUnavailableError):
        await database.ping()
    with pytest.raises(DatabaseUnavailableError):
        await AuditLog(database).append(entry())
    await database.close()
