"""What is deleted is gone from every table, and with SQLite from the files too."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from storage import migrate
from storage.asks import AskRecord, AskStore
from storage.audit import AuditEntry, AuditLog
from storage.columns import utc_now
from storage.database import Database
from storage.erasing import AuditEraser, RecordEraser
from storage.feedback import FeedbackRecord, FeedbackStore
from storage.labels import LabelRecord, LabelStore
from storage.queued_asks import QueuedAskRecord

CANARY = "how-do-i-hide-the-bodies-of-emails"
NOW = utc_now()


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    await asyncio.to_thread(migrate.upgrade, url)
    opened = Database(url)
    yield opened
    await opened.close()


def make_ask(ask_id: str, caller: str = "key-a", created_at: datetime = NOW) -> AskRecord:
    return AskRecord(
        id=ask_id, caller=caller, created_at=created_at, question=CANARY,
        search_question=CANARY, top_k=4, status="answered", abstained=False, answer="",
        guard_mode="fixed", threshold=0.5, fidelity="exact", agent_kind="llm", model="m",
        build="b", response={"question": CANARY}, verdict={},
    )  # fmt: skip


async def fill(database: Database, *asks: AskRecord) -> None:
    for ask in asks:
        ask_id = ask.id
        await AskStore(database).save(ask)
        await FeedbackStore(database).save(
            FeedbackRecord(ask_id=ask_id, caller="key-z", thumb="up", comment=CANARY)
        )
        await LabelStore(database).save(LabelRecord(ask_id=ask_id, label="right", comment=CANARY))
        for part in (ask_id, f"{ask_id}/1"):
            await AuditLog(database).append(
                AuditEntry(ask_id=part, branch="agent", tool="search_kb", arguments={"q": CANARY})
            )


async def left_of(database: Database, ask_id: str) -> list[object]:
    thumbs = await FeedbackStore(database).newest([ask_id])
    rows = [
        *await AuditLog(database).of_ask(ask_id),
        *await AuditLog(database).of_ask(f"{ask_id}/1"),
    ]
    return [
        await AskStore(database).find(ask_id), thumbs.get(ask_id),
        await LabelStore(database).find(ask_id), rows or None,
    ]  # fmt: skip


async def test_an_ask_goes_with_everything_that_hangs_on_it_and_nothing_else_does(
    database: Database,
) -> None:
    await fill(database, make_ask("one"), make_ask("one-more"))
    assert await RecordEraser(database).erase(["one", "absent"]) == 1
    assert await left_of(database, "one") == [None] * 4
    assert None not in await left_of(database, "one-more")


async def test_a_caller_and_a_time_are_found_and_a_callers_own_calls_go_too(
    database: Database,
) -> None:
    old = NOW - timedelta(days=40)
    await fill(database, make_ask("new"), make_ask("old", created_at=old), make_ask("his", "key-b"))
    await AuditLog(database).append(
        AuditEntry(
            branch="direct", caller="signed:key-a", tool="search_kb", arguments={"q": CANARY}
        )
    )
    waiting = QueuedAskRecord(id="waits", request={"question": CANARY}, caller={"name": "key-a"})
    async with database.write() as session:
        session.add(waiting)
    eraser = RecordEraser(database)
    assert await eraser.ids_before(NOW - timedelta(days=30), limit=9) == ["old"]
    assert await eraser.ids_of("key-a", limit=9) == ["old", "new", "waits"]
    assert await eraser.erase(["waits"]) == 1
    assert await eraser.ids_of("key-a", limit=9) == ["old", "new"]
    assert await AuditEraser(database).erase([], "key-a") == 1
    await eraser.erase_beside("key-z")
    assert (await left_of(database, "his"))[1] is None


def read_all(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


async def test_deleted_text_is_not_in_the_files_of_sqlite(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'vouch.db'}"
    await asyncio.to_thread(migrate.upgrade, url)
    database = Database(url)
    await fill(database, make_ask("one"))
    assert CANARY.encode() in read_all(tmp_path)
    await RecordEraser(database).erase(["one"])
    await database.wipe_log()
    assert CANARY.encode() not in read_all(tmp_path)
    await database.close()
