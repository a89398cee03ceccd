"""Records are found by what became of them, and a thumb belongs to an ask."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from storage import migrate
from storage.ask_search import AskFilter, AskSearch
from storage.asks import AskRecord, AskStore
from storage.database import Database
from storage.feedback import FeedbackRecord, FeedbackStore

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    await asyncio.to_thread(migrate.upgrade, url)
    database = Database(url)
    store = AskStore(database)
    await store.save(make("answered", 0, lowest_support=0.9, model="extractive"))
    await store.save(make("weak", 1, lowest_support=0.3, model="small", fidelity="diverged"))
    await store.save(
        make("refused", 2, status="abstained", abstained=True, reason="weak_evidence", source="s")
    )
    yield database
    await database.close()


def make(name: str, day: int, **fields: object) -> AskRecord:
    known: dict[str, object] = {
        "id": name,
        "created_at": START + timedelta(days=day),
        "question": name,
        "search_question": name,
        "top_k": 4,
        "status": "answered",
        "abstained": False,
        "answer": "a",
        "guard_mode": "fixed",
        "threshold": 0.5,
        "fidelity": "exact",
        "agent_kind": "extractive",
        "model": "extractive",
        "build": "b",
        "response": {},
        "verdict": {},
    }
    return AskRecord.model_validate({**known, **fields})


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (AskFilter(), ["refused", "weak", "answered"]),
        (AskFilter(status="abstained"), ["refused"]),
        (AskFilter(status="answered"), ["weak", "answered"]),
        (AskFilter(reason="weak_evidence"), ["refused"]),
        (AskFilter(fidelity="diverged"), ["weak"]),
        (AskFilter(source="s"), ["refused"]),
        (AskFilter(model="small"), ["weak"]),
        (AskFilter(support_below=0.5), ["weak"]),
        (AskFilter(before=START + timedelta(days=1)), ["answered"]),
        (AskFilter(status="abstained", fidelity="diverged"), []),
    ],
)
async def test_records_are_found_by_what_became_of_them(
    database: Database, wanted: AskFilter, found: list[str]
) -> None:
    assert [record.id for record in await AskSearch(database).find(wanted, limit=10)] == found


async def test_no_more_than_the_limit_is_found(database: Database) -> None:
    newest = await AskSearch(database).find(AskFilter(), limit=1)
    assert [record.id for record in newest] == ["refused"]


async def test_models_are_listed_once(database: Database) -> None:
    assert await AskSearch(database).models() == ["extractive", "small"]


async def test_a_second_thumb_takes_the_place_of_the_first(database: Database) -> None:
    store = FeedbackStore(database)
    assert await store.save(FeedbackRecord(ask_id="weak", caller="me", thumb="up"))
    assert await store.save(
        FeedbackRecord(ask_id="weak", caller="me", thumb="down", reason="incomplete")
    )
    newest = await store.newest(["weak", "answered"])
    assert list(newest) == ["weak"]
    assert newest["weak"].reason == "incomplete"
    disliked = await AskSearch(database).find(AskFilter(thumb="down"), limit=10)
    assert [record.id for record in disliked] == ["weak"]
    assert await AskSearch(database).find(AskFilter(thumb="up"), limit=10) == []


async def test_a_thumb_without_its_ask_is_not_kept(database: Database) -> None:
    store = FeedbackStore(database)
    assert not await store.save(FeedbackRecord(ask_id="nope", caller="me", thumb="up"))
    assert await store.newest(["nope"]) == {}
