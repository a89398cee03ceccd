"""Records of asks come back as they were written."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from storage import migrate
from storage.asks import AskRecord, AskStore
from storage.database import Database

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
async def store(url: str) -> AsyncIterator[AskStore]:
    await asyncio.to_thread(migrate.upgrade, url)
    database = Database(url)
    yield AskStore(database)
    await database.close()


def record(name: str, day: int = 0) -> AskRecord:
    return AskRecord(
        id=name, created_at=START + timedelta(days=day), question="q" * 5000, search_question="q",
        top_k=4, status="answered", abstained=False, answer="ä\n\u2028", guard_mode="fixed",
        threshold=0.5, fidelity="exact", agent_kind="extractive", model="m", build="b",
        response={"nested": [{"number": 0.1}, None]}, verdict={}, labels=["staff"],
    )  # fmt: skip


async def test_a_record_comes_back_whole(store: AskStore) -> None:
    await store.save(record("one"))
    found = await store.find("one")
    assert found is not None
    assert found.model_dump() == record("one").model_dump()
    assert await store.find("two") is None


async def test_the_newest_come_first_page_by_page(store: AskStore) -> None:
    for day in range(4):
        await store.save(record(str(day), day))
    assert [found.id for found in await store.recent(limit=2)] == ["3", "2"]
    older = await store.recent(limit=2, before=START + timedelta(days=2))
    assert [found.id for found in older] == ["1", "0"]


async def test_a_shadow_answer_is_kept_with_its_record(store: AskStore) -> None:
    await store.save(record("one"))
    await store.note_shadow("one", {"result": "verified"})
    await store.note_shadow("unheard of", {"result": "verified"})
    found = await store.find("one")
    assert found is not None
    assert found.shadow == {"result": "verified"}


async def test_purging_deletes_only_what_is_older(store: AskStore) -> None:
    for day in range(3):
        await store.save(record(str(day), day))
    assert await store.purge(START + timedelta(days=1)) == 1
    assert await store.find("0") is None
    assert await store.find("1") is not None
