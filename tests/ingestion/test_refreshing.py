"""Sources that are read again by themselves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from ingestion.refreshing import Look, Refresher, look_at
from storage import migrate
from storage.columns import utc_now
from storage.database import Database, database_url
from storage.index_view import IndexView, SourceRecord
from storage.job_orders import IngestOrder, OrderedSource
from storage.jobs import JobStore

URL = "https://docs.example/page.html"


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    url = database_url("", tmp_path, "vouch")
    await asyncio.to_thread(migrate.upgrade, url)
    opened = Database(url)
    yield opened
    await opened.close()


async def keep(view: IndexView, *, refresh_seconds: int, age_seconds: float) -> None:
    order = IngestOrder(
        sources=(OrderedSource(name="docs", kind="url", location=URL),),
        refresh_seconds=refresh_seconds,
    )
    record = SourceRecord(
        name="docs", location=URL, request=order.model_dump(mode="json"),
        refresh_seconds=refresh_seconds, validators={"etag": '"1"'},
        checked_at=utc_now() - timedelta(seconds=age_seconds),
    )  # fmt: skip
    await view.keep_sources([record])


@pytest.mark.parametrize(
    ("refresh_seconds", "age_seconds", "is_unchanged", "looks", "orders"),
    [(60, 61, False, 1, 1), (60, 61, True, 1, 0), (60, 30, False, 0, 0), (0, 9999, False, 0, 0)],
)
async def test_a_source_is_ordered_anew_when_it_is_due_and_has_changed(
    database: Database, *, refresh_seconds: int, age_seconds: float, is_unchanged: bool,
    looks: int, orders: int,
) -> None:  # fmt: skip
    view, jobs = IndexView(database), JobStore(database)
    await keep(view, refresh_seconds=refresh_seconds, age_seconds=age_seconds)
    asked: list[Mapping[str, str]] = []

    def look(url: str, known: Mapping[str, str]) -> Look:
        asked.append(known)
        return Look(is_unchanged, {"etag": '"2"'})

    refresher = Refresher(view, jobs, look)
    assert await refresher.run() == orders
    assert asked == [{"etag": '"1"'}] * looks
    assert await refresher.run() == 0
    found = await jobs.recent(limit=5)
    assert len(found) == orders
    for job in found:
        order = IngestOrder.model_validate(job.request)
        assert (order.validators, order.refresh_seconds) == ({"etag": '"2"'}, 60)


async def test_an_address_that_does_not_answer_is_left_to_the_job(database: Database) -> None:
    view, jobs = IndexView(database), JobStore(database)
    await keep(view, refresh_seconds=60, age_seconds=61)

    def look(url: str, known: Mapping[str, str]) -> Look:
        raise httpx.ConnectError("down")

    assert await Refresher(view, jobs, look).run() == 1


async def test_of_two_workers_one_looks(database: Database) -> None:
    view = IndexView(database)
    await keep(view, refresh_seconds=60, age_seconds=61)
    (seen,) = await view.sources()
    assert [await view.take(seen), await view.take(seen)] == [True, False]


def test_an_address_is_asked_with_its_validators_but_a_list_never_is() -> None:
    asked: list[httpx.Headers] = []

    def reply(request: httpx.Request) -> httpx.Response:
        asked.append(request.headers)
        is_same = request.headers.get("if-none-match") == '"1"'
        return httpx.Response(304 if is_same else 200, headers={"ETag": '"1"'})

    def look(url: str) -> Look:
        known = {"etag": '"1"', "last-modified": "Thu, 01 Jan 2026 00:00:00 GMT"}
        return look_at(url, known, transport=httpx.MockTransport(reply), timeout_seconds=5)

    assert look(URL).is_unchanged
    assert asked[0]["if-modified-since"] == "Thu, 01 Jan 2026 00:00:00 GMT"
    assert not look("https://docs.example/sitemap.xml").is_unchanged
    assert not look("https://docs.example/llms.txt").is_unchanged
