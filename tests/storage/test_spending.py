"""Tokens reserved and settled, by callers at once, on both databases."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import date

import pytest

from storage import migrate
from storage.database import Database
from storage.spending import Account, SpendingStore

TODAY = date(2026, 1, 31)
EVERYBODY = Account("all", 1000)


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    await asyncio.to_thread(migrate.upgrade, url)
    opened = Database(url)
    yield opened
    await opened.close()


async def numbers(store: SpendingStore, account: str) -> tuple[int, int]:
    found = (await store.on(TODAY))[account]
    return found.spent, found.reserved


async def test_callers_at_once_never_reserve_more_than_there_is(database: Database) -> None:
    stores = [SpendingStore(database), SpendingStore(database)]
    keys = [Account("key-a", 500), Account("key-b")]
    asked = [stores[n % 2].reserve(TODAY, (keys[n % 2], EVERYBODY), 90) for n in range(24)]
    short = await asyncio.gather(*asked)
    assert sum(one is None for one in short) == 11
    assert (await numbers(stores[0], "all")) == (0, 990)
    reserved = [(await numbers(stores[0], name))[1] for name in ("key-a", "key-b")]
    assert sum(reserved) == 990
    assert reserved[0] <= 500


async def test_a_key_without_room_takes_nothing_from_everybodys_budget(database: Database) -> None:
    store, poor = SpendingStore(database), Account("key-z", 50)
    assert await store.reserve(TODAY, (EVERYBODY, poor), 60) == poor
    assert await store.reserve(TODAY, (EVERYBODY, poor), 50) is None
    assert await numbers(store, "all") == (0, 50)


async def test_what_was_spent_takes_the_place_of_what_was_reserved(database: Database) -> None:
    store, accounts = SpendingStore(database), (EVERYBODY,)
    await store.reserve(TODAY, accounts, 800)
    await store.settle(TODAY, accounts, reserved=800, spent=30)
    assert await numbers(store, "all") == (30, 0)
    assert await store.reserve(TODAY, accounts, 970) is None
    assert await store.reserve(TODAY, accounts, 1) == EVERYBODY


async def test_spending_is_there_after_a_restart_and_anew_the_next_day(
    database: Database, url: str
) -> None:
    await SpendingStore(database).settle(TODAY, (EVERYBODY,), reserved=0, spent=1000)
    again = Database(url)
    store = SpendingStore(again)
    assert await store.reserve(TODAY, (EVERYBODY,), 1) == EVERYBODY
    assert await store.reserve(date(2026, 2, 1), (EVERYBODY,), 1000) is None
    assert await store.purge(date(2026, 2, 1)) == 1
    await again.close()
