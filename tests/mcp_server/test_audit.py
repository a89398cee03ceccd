"""The audit trail: nothing lost, nothing in the way of an answer."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest

from knowledge.contracts import AuditRow
from mcp_server.audit import AuditTrail
from mcp_server.audit_sql import SqlAuditSink
from mcp_server.errors import AuditUnavailableError
from storage.database import Database
from storage.migrate import upgrade
from tests.mcp_server.fakes import FakeSink
from tests.mcp_server.serving import claims, connect, serve


def row(number: int, *, ask_id: str = "ask-1") -> AuditRow:
    """Return one row, told apart by its duration."""
    return AuditRow(
        ask_id=ask_id,
        branch="agent",
        caller="signed",
        tool="search_kb",
        arguments={"query": "limit", "top_k": 4},
        chunk_ids=("a", "b"),
        cosines=(0.9, 0.8),
        build="build",
        milliseconds=float(number),
        created_at="2026-11-29T00:00:00.000+00:00",
        request_id="r",
    )


async def test_rows_are_read_in_the_order_they_were_recorded() -> None:
    trail = AuditTrail(FakeSink())
    for number in range(5):
        trail.record(row(number))
    assert [each.milliseconds for each in await trail.rows("ask-1")] == [0, 1, 2, 3, 4]


async def test_concurrent_writers_share_one_commit() -> None:
    sink = FakeSink()
    trail = AuditTrail(sink, waits=True)
    for number in range(5):
        trail.record(row(number))
    await asyncio.gather(*(trail.settle() for _ in range(5)))
    assert sink.batches == [5]


async def test_a_row_is_seen_once_while_it_is_being_stored() -> None:
    sink = FakeSink()
    trail = AuditTrail(sink)
    for number in range(3):
        trail.record(row(number))
    committing = asyncio.create_task(trail.commit())
    pages = await asyncio.gather(*(trail.rows("ask-1") for _ in range(4)))
    await committing
    assert {len(page) for page in pages} == {3}


async def test_the_writer_commits_by_itself_in_groups() -> None:
    sink = FakeSink()
    trail = AuditTrail(sink, linger_seconds=0)
    for number in range(10):
        trail.record(row(number))
    task = asyncio.create_task(trail.run())
    await sink.wrote.wait()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    assert sink.batches == [10]


async def test_a_commit_whose_caller_goes_away_stores_each_row_once() -> None:
    sink = FakeSink()
    sink.release.clear()
    trail = AuditTrail(sink)
    trail.record(row(1))
    leaving = asyncio.create_task(trail.commit())
    await sink.entered.wait()
    leaving.cancel()
    await asyncio.gather(leaving, return_exceptions=True)
    sink.release.set()
    await trail.commit()
    assert [each.milliseconds for each in sink.stored] == [1]


async def test_the_last_rows_are_committed_when_the_server_stops() -> None:
    sink = FakeSink()
    trail = AuditTrail(sink, linger_seconds=3600)
    task = asyncio.create_task(trail.run())
    trail.record(row(1))
    await asyncio.sleep(0)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    assert len(sink.stored) == 1


async def test_rows_wait_while_the_sink_refuses_and_are_written_after() -> None:
    sink = FakeSink(refuses=True)
    trail = AuditTrail(sink)
    trail.record(row(1))
    with pytest.raises(AuditUnavailableError):
        await trail.commit()
    assert trail.health().status == "degraded"
    sink.refuses = False
    trail.record(row(2))
    await trail.commit()
    assert [each.milliseconds for each in sink.stored] == [1, 2]
    assert trail.health().status == "ok"


async def test_no_call_is_answered_when_no_more_rows_can_be_kept() -> None:
    trail = AuditTrail(FakeSink(refuses=True), capacity=2)
    trail.require_room()
    trail.record(row(1))
    trail.record(row(2))
    with pytest.raises(AuditUnavailableError):
        trail.require_room()


async def test_a_waiting_trail_answers_only_after_the_commit() -> None:
    sink = FakeSink()
    trail = AuditTrail(sink, waits=True)
    trail.record(row(1))
    await trail.settle()
    assert len(sink.stored) == 1
    sink.refuses = True
    trail.record(row(2))
    with pytest.raises(AuditUnavailableError):
        await trail.settle()


async def test_a_database_without_tables_is_noticed_before_the_first_call(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'audit.db'}")
    trail = AuditTrail(SqlAuditSink(database))
    try:
        assert not await trail.probe()
        assert "vouch migrate" in trail.health().detail
        await asyncio.to_thread(upgrade, f"sqlite:///{tmp_path / 'audit.db'}")
        assert await trail.probe()
        assert trail.health().status == "ok"
    finally:
        await database.close()


async def test_rows_come_back_from_the_database_as_they_went_in(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'audit.db'}"
    await asyncio.to_thread(upgrade, url)
    database = Database(url)
    try:
        sink = SqlAuditSink(database)
        rows = [row(1), row(2), row(3, ask_id="ask-2")]
        await sink.write(rows)
        assert list(await sink.rows("ask-1")) == rows[:2]
    finally:
        await database.close()


async def test_many_callers_leave_every_row_once_in_few_transactions() -> None:
    async with serve() as running, connect(running.url) as client:

        async def caller(number: int) -> None:
            tools = client.bind(claims(ask_id=f"ask-{number}"))
            for _ in range(10):
                await tools.search_kb("limit", 2)

        await asyncio.gather(*(caller(number) for number in range(32)))
        pages = [await client.read_audit(f"ask-{number}") for number in range(32)]
    searches = [[row for row in page.rows if row.tool == "search_kb"] for page in pages]
    assert [len(rows) for rows in searches] == [10] * 32
    assert len(running.sink.stored) == 32 * 11
    assert len(running.sink.batches) < 32 * 11 / 4
