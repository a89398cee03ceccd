"""The page of the documents over a real worker, database and index: upload, progress, rollback."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from fastapi import FastAPI
from playwright.sync_api import Page, expect
from prometheus_client import CollectorRegistry
from pydantic import SecretStr

from backend.app import create_app
from backend.services import Services, compose
from backend.settings import ApiSettings
from ingestion.toolbox import Toolbox
from ingestion.worker import run_worker
from ingestion.worker_settings import WorkerSettings
from storage import migrate
from storage.database import Database, database_url
from tests.backend.fakes import FakeAgent, knows, says
from tests.browser.conftest import Inspector, OpenPage
from tests.browser.serving import Serving, serve
from tests.ingestion.fakes import HashEmbedder
from tests.ingestion.hash_tools import hash_tools

pytestmark = pytest.mark.browser
PATIENCE = 30_000


def make_app(folder: Path, token: str = "") -> FastAPI:
    url = database_url("", folder, "vouch")
    settings = ApiSettings(
        data_dir=folder, database_url=url, signing_key=SecretStr("0123456789abcdef"),
        admin_token=SecretStr(token),
    )  # fmt: skip
    worker = WorkerSettings(data_dir=folder, worker_poll_seconds=0.05)

    @asynccontextmanager
    async def opener(_: ApiSettings) -> AsyncGenerator[Services]:
        database = Database(url)
        toolbox = Toolbox(worker, hash_tools(HashEmbedder()))
        working = asyncio.create_task(run_worker(worker, url, toolbox))
        yield compose(
            settings, knows({}), FakeAgent(says("x")), database=database,
            registry=CollectorRegistry(),
        )  # fmt: skip
        working.cancel()
        with suppress(asyncio.CancelledError):
            await working
        await database.close()

    return create_app(settings, opener)


def prepare(folder: Path) -> None:
    """Make the tables; in a thread, because the browser's loop runs in this one."""
    with ThreadPoolExecutor() as pool:
        pool.submit(migrate.upgrade, database_url("", folder, "vouch")).result()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Serving]:
    prepare(tmp_path)
    with serve(lambda: make_app(tmp_path)) as serving:
        yield serving


def upload(page: Page, *files: tuple[str, bytes]) -> None:
    page.set_input_files(
        "#files",
        [{"name": name, "mimeType": "text/markdown", "buffer": data} for name, data in files],
    )
    page.get_by_role("button", name="Upload and read").click()


def wait_for_jobs(page: Page, url: str, count: int) -> None:
    """Wait until the newest jobs have ended and the page shows their builds."""
    expect(page.locator("[data-job]")).to_have_count(count, timeout=PATIENCE)
    expect(page.locator("[data-state='queued'], [data-state='running']")).to_have_count(
        0, timeout=PATIENCE
    )
    page.goto(f"{url}/ingest")


def test_upload_progress_errors_and_rollback(
    site: Serving, open_page: OpenPage, inspector: Inspector
) -> None:
    page = open_page(f"{site.url}/ingest").page
    page.wait_for_load_state("networkidle")
    expect(page.get_by_text("No job yet.")).to_be_visible()
    page.goto(f"{site.url}/ingest")
    upload(page, ("a.md", b"# Alpha\n\nThe first fact.\n"), ("b.md", b"\x00\x01\x02\xff\xfe"))
    wait_for_jobs(page, site.url, 1)
    expect(page.get_by_text("2 of 2 documents, 1 left out")).to_be_visible()
    expect(page.locator(".left-out")).to_contain_text("uploads/b.md")
    expect(page.locator("[data-build]")).to_have_count(1, timeout=PATIENCE)
    first = page.locator("[data-build]").get_attribute("data-build")
    upload(page, ("c.md", b"# Gamma\n\nThe third fact.\n"))
    wait_for_jobs(page, site.url, 2)
    expect(page.locator("[data-build]")).to_have_count(2)
    assert inspector.violations(page) == []
    inspector.keep(page, "ingest")
    page.get_by_role("button", name="Roll back to the build before").click()
    wait_for_jobs(page, site.url, 3)
    expect(page.locator(f"[data-build='{first}']")).to_contain_text("in force")


def test_a_folder_outside_is_explained_on_a_page(site: Serving, open_page: OpenPage) -> None:
    visit = open_page(f"{site.url}/ingest")
    visit.page.fill("#place", "/etc")
    visit.page.get_by_role("button", name="Read", exact=True).click()
    expect(visit.page.get_by_text("VOUCH_INGEST_ROOTS")).to_be_visible()
    visit.complaints.clear()


def test_the_key_opens_the_page(tmp_path: Path, open_page: OpenPage, inspector: Inspector) -> None:
    prepare(tmp_path)
    with serve(lambda: make_app(tmp_path, "the-key")) as serving:
        visit = open_page(f"{serving.url}/ingest", scheme="dark")
        assert inspector.violations(visit.page) == []
        visit.page.fill("#key", "wrong")
        visit.page.get_by_role("button", name="Continue").click()
        expect(visit.page.get_by_role("alert")).to_be_visible()
        visit.page.fill("#key", "the-key")
        visit.page.get_by_role("button", name="Continue").click()
        expect(visit.page.get_by_role("heading", name="Documents", exact=True)).to_be_visible()
        assert inspector.violations(visit.page) == []
        visit.complaints.clear()


def test_without_script_an_upload_is_a_plain_form(site: Serving, open_page: OpenPage) -> None:
    page = open_page(f"{site.url}/ingest", has_script=False).page
    upload(page, ("a.md", b"# Alpha\n\nThe first fact.\n"))
    expect(page.locator("[data-job]")).to_have_count(1)


def test_a_small_phone_needs_no_sideways_scrolling(
    site: Serving, open_page: OpenPage, inspector: Inspector
) -> None:
    page = open_page(f"{site.url}/ingest", width=320, height=640).page
    upload(page, ("a-name-that-does-not-fit-" * 4 + ".md", b"\x00\x01\x02\xff"))
    wait_for_jobs(page, site.url, 1)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    inspector.keep(page, "ingest-phone")
