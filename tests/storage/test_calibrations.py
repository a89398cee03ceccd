"""The newest active calibration is the one in force."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from storage import migrate
from storage.calibrations import CalibrationRecord, CalibrationStore
from storage.database import Database

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
async def store(url: str) -> AsyncIterator[CalibrationStore]:
    await asyncio.to_thread(migrate.upgrade, url)
    database = Database(url)
    yield CalibrationStore(database)
    await database.close()


def record(name: str, day: int) -> CalibrationRecord:
    return CalibrationRecord(id=name, created_at=START + timedelta(days=day), artefact={"n": name})


async def test_nothing_is_in_force_before_the_first(store: CalibrationStore) -> None:
    assert await store.in_force() is None


async def test_the_newest_is_in_force_until_it_is_withdrawn(store: CalibrationStore) -> None:
    await store.save(record("old", 0))
    await store.save(record("new", 1))
    found = await store.in_force()
    assert found is not None
    assert found.artefact == {"n": "new"}
    assert await store.withdraw("new")
    found = await store.in_force()
    assert found is not None
    assert found.id == "old"
    assert not await store.withdraw("unheard of")


async def test_a_drift_check_is_kept_with_its_artefact(store: CalibrationStore) -> None:
    await store.save(record("one", 0))
    assert await store.note_check("one", {"build": "b", "changed_share": 0.2, "passed": True})
    found = await store.in_force()
    assert found is not None
    assert found.drift_check["changed_share"] == 0.2
