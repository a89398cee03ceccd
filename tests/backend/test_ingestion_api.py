"""The ingestion's routes over a real database; the worker's part is tested with the worker."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from pydantic import JsonValue, SecretStr

from backend.edge.uploads import safe_name
from backend.errors import BadOrderError
from backend.settings import ApiSettings
from storage.database import Database
from storage.index_view import IndexView
from storage.job_orders import IngestOrder
from storage.job_queue import JobQueue, LeaseRules
from storage.jobs import JobStore
from tests.backend.conftest import Connect
from tests.backend.fakes import FakeAgent, knows, says

BASE = "/api/v1/ingestion"


@pytest.fixture
async def database(settings: ApiSettings) -> AsyncIterator[Database]:
    database = Database(settings.database_url)
    await IndexView(database).announce("w", ["default", "pdf_fast"])
    yield database
    await database.close()


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    (folder / "guide").mkdir(parents=True)
    (folder / "a.md").write_text("# A\n\nOne.\n")
    (folder / "guide" / "b.md").write_text("# B\n\nTwo.\n")
    return folder


@pytest.fixture
async def api(connect: Connect, database: Database, docs: Path) -> httpx.AsyncClient:
    return await connect(knows({}), FakeAgent(says("x")), ingest_roots=str(docs))


def problem(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


async def test_a_folder_is_accepted_with_a_location_and_a_count(
    api: httpx.AsyncClient, docs: Path
) -> None:
    response = await api.post(f"{BASE}/folder", json={"folder_path": str(docs)})
    body = response.json()
    assert (response.status_code, body["documents"]) == (202, 2)
    assert response.headers["location"] == f"{BASE}/jobs/{body['job_id']}"
    job = (await api.get(response.headers["location"])).json()
    assert (job["state"], job["kind"], job["sources"]) == ("queued", "ingest", ["docs"])


async def test_files_are_sources_named_by_their_place(
    api: httpx.AsyncClient, database: Database
) -> None:
    body = {"file_paths": ["a.md", "guide/b.md"]}
    response = await api.post(f"{BASE}/files", json=body)
    job = await JobStore(database).find(response.json()["job_id"])
    assert job is not None
    order = IngestOrder.model_validate(job.request)
    assert [source.name for source in order.sources] == ["a.md", "guide/b.md"]
    one = await api.post(f"{BASE}/file", json={"file_path": "a.md", "profile": "pdf_fast"})
    assert (one.status_code, one.json()["documents"]) == (202, 1)


@pytest.mark.parametrize(
    ("route", "body"),
    [
        ("file", {"file_path": "/etc/passwd"}),
        ("file", {"file_path": "../secret.md"}),
        ("file", {"file_path": "link.md"}),
        ("file", {"file_path": "guide"}),
        ("file", {"file_path": "a.md\u0000"}),
        ("file", {"file_path": "a.md", "profile": "unknown"}),
        ("folder", {"folder_path": "/"}),
        ("folder", {"folder_path": "a.md"}),
        ("folder", {"folder_path": "linked"}),
        ("url", {"url": "file:///etc/passwd"}),
        ("url", {"url": "https://user:key@host/"}),
        ("url", {"url": "https://docs.example/", "profile": "unknown"}),
    ],
)
async def test_what_no_worker_could_do_is_refused_before_anything_is_queued(
    api: httpx.AsyncClient, docs: Path, tmp_path: Path, route: str, body: dict[str, str]
) -> None:
    (tmp_path / "secret.md").write_text("secret")
    (docs / "link.md").symlink_to(tmp_path / "secret.md")
    (docs / "linked").symlink_to(tmp_path)
    response = await api.post(f"{BASE}/{route}", json=body)
    assert problem(response) == (422, "bad_order")
    assert (await api.get(f"{BASE}/jobs")).json() == []


async def test_without_roots_no_path_is_read(connect: Connect, database: Database) -> None:
    api = await connect(knows({}), FakeAgent(says("x")))
    response = await api.post(f"{BASE}/file", json={"file_path": "/etc/hostname"})
    assert problem(response) == (422, "bad_order")
    assert "VOUCH_INGEST_ROOTS" in response.json()["detail"]


async def test_before_any_worker_was_there_an_order_is_told_so(connect: Connect) -> None:
    api = await connect(knows({}), FakeAgent(says("x")))
    response = await api.post(f"{BASE}/url", json={"url": "https://docs.example/"})
    assert problem(response) == (503, "no_worker")
    assert response.headers["retry-after"]


async def test_uploads_are_kept_under_safe_names(
    api: httpx.AsyncClient, tmp_path: Path, database: Database
) -> None:
    files = [
        ("files", ("../../evil.md", b"# E\n\nOne.\n")),
        ("files", ("C:\\docs\\b.md", b"# B\n\nTwo.\n")),
    ]
    response = await api.post(f"{BASE}/upload", files=files, data={"source": "mine"})
    assert (response.status_code, response.json()["documents"]) == (202, 2)
    folder = tmp_path / "uploads" / "mine"
    assert sorted(path.name for path in folder.iterdir()) == ["b.md", "evil.md"]


async def test_an_upload_over_the_limit_leaves_nothing(
    connect: Connect, database: Database, tmp_path: Path
) -> None:
    api = await connect(knows({}), FakeAgent(says("x")), upload_limit_bytes=100_000)
    fits = await api.post(f"{BASE}/upload", files={"files": ("a.md", b"x" * 90_000)})
    over = await api.post(f"{BASE}/upload", files={"files": ("b.md", b"x" * 100_001)})
    assert (fits.status_code, over.status_code) == (202, 413)
    assert [path.name for path in (tmp_path / "uploads" / "uploads").iterdir()] == ["a.md"]


@pytest.mark.parametrize("source", ["..", "a/b", ".hidden", ""])
async def test_an_upload_cannot_leave_its_folder(api: httpx.AsyncClient, source: str) -> None:
    response = await api.post(
        f"{BASE}/upload", files={"files": ("a.md", b"x")}, data={"source": source}
    )
    assert response.status_code == (202 if source == "" else 422)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("a.md", "a.md"),
        ("/etc/passwd", "passwd"),
        ("..\\..\\b.md", "b.md"),
        (".bashrc", "bashrc"),
        ("a\x00b<c>.md", "a_b_c_.md"),
        ("é" * 300 + ".md", "é" * 98 + ".md"),
    ],
)
def test_names_are_made_harmless(given: str, kept: str) -> None:
    assert safe_name(given) == kept


@pytest.mark.parametrize("given", ["", "..", "///", "...", "<>"])
def test_a_name_of_nothing_is_refused(given: str) -> None:
    with pytest.raises(BadOrderError):
        safe_name(given)


async def test_a_job_is_cancelled_retried_and_told_when_that_is_not_possible(
    api: httpx.AsyncClient,
) -> None:
    accepted = await api.post(f"{BASE}/file", json={"file_path": "a.md"})
    place = accepted.headers["location"]
    assert problem(await api.post(f"{place}/retry")) == (409, "job_state")
    assert (await api.post(f"{place}/cancel")).json()["state"] == "cancelled"
    assert (await api.post(f"{place}/retry")).json()["state"] == "queued"
    assert problem(await api.get(f"{BASE}/jobs/none")) == (404, "unknown_job")
    assert problem(await api.get(f"{BASE}/jobs/none/events")) == (404, "unknown_job")
    assert problem(await api.post(f"{BASE}/jobs/none/cancel")) == (404, "unknown_job")


async def test_a_stuck_job_is_seen_with_its_attempts_and_its_documents_state(
    api: httpx.AsyncClient, database: Database
) -> None:
    accepted = await api.post(f"{BASE}/file", json={"file_path": "a.md"})
    queue = JobQueue(database, LeaseRules())
    plan = await queue.claim("w")
    assert plan is not None
    await queue.planned(plan, ["a.md/a.md"], "s")
    assert await queue.claim("killed")
    (item,) = (await api.get(accepted.headers["location"])).json()["items"]
    assert (item["state"], item["attempts"]) == ("running", 1)


async def test_the_events_of_a_job_end_with_its_end(
    api: httpx.AsyncClient, database: Database
) -> None:
    accepted = await api.post(f"{BASE}/file", json={"file_path": "a.md"})
    queue = JobQueue(database, LeaseRules())
    plan = await queue.claim("w")
    assert plan is not None
    await queue.failed(plan, code="bad_source", error="nothing there")
    response = await api.get(f"{accepted.headers['location']}/events")
    assert response.headers["content-type"].startswith("text/event-stream")
    name, data = response.text.strip().splitlines()
    assert name == "event: job"
    told = json.loads(data.removeprefix("data: "))
    assert (told["state"], told["error"]["detail"]) == ("failed", "nothing there")


async def test_builds_and_sources_are_shown_as_a_worker_saw_them(
    api: httpx.AsyncClient, database: Database
) -> None:
    builds: list[dict[str, JsonValue]] = [
        {
            "build": name, "created_at": "2026-01-01T00:00:00+00:00", "profile": "default",
            "chunks": 3, "documents": 2, "duplicates": 0, "sources": {"docs": 3},
            "stamp": {"embedding_model": "m"}, "content_digest": "d",
        }
        for name in ("b2", "b1")
    ]  # fmt: skip
    await IndexView(database).show("docs", "b2", builds)
    shown = (await api.get(f"{BASE}/builds")).json()
    assert [(b["build"], b["is_current"]) for b in shown] == [("b2", True), ("b1", False)]
    (source,) = (await api.get(f"{BASE}/sources")).json()
    assert (source["name"], source["chunks"]) == ("docs", 3)
    assert (await api.post(f"{BASE}/builds/b1/publish")).status_code == 202
    assert problem(await api.post(f"{BASE}/builds/b9/publish")) == (422, "bad_order")
    assert (await api.post(f"{BASE}/builds/rollback")).status_code == 202
    assert (await api.post(f"{BASE}/builds/gc?keep=2")).status_code == 202
    assert (await api.delete(f"{BASE}/sources/docs")).status_code == 202
    assert problem(await api.delete(f"{BASE}/sources/other")) == (422, "bad_order")


async def test_with_a_key_only_its_holder_is_served(connect: Connect, database: Database) -> None:
    api = await connect(knows({}), FakeAgent(says("x")), admin_token=SecretStr("the-key"))
    assert problem(await api.get(f"{BASE}/jobs")) == (401, "admin_required")
    wrong = await api.get(f"{BASE}/jobs", headers={"authorization": "Bearer other"})
    right = await api.get(f"{BASE}/jobs", headers={"authorization": "Bearer the-key"})
    assert (wrong.status_code, right.status_code) == (401, 200)
    page = await api.get("/ingest", headers={"accept": "text/html"})
    assert (page.status_code, "password" in page.text) == (401, True)
    entered = await api.post("/ingest/key", data={"key": "the-key"})
    assert (entered.status_code, "the-key" in str(entered.headers)) == (303, False)
    assert (await api.get("/ingest")).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"x-forwarded-for": "127.0.0.1"},
        {"forwarded": "for=127.0.0.1"},
        {"host": "docs.example"},
        {"origin": "http://evil.example"},
        {"origin": "http://["},
        {"origin": "null"},
    ],
)
async def test_without_a_key_only_this_machine_itself_is_served(
    connect: Connect, database: Database, headers: dict[str, str]
) -> None:
    api = await connect(
        knows({}), FakeAgent(says("x")), allowed_hosts=("docs.example",),
        allowed_origins=("http://evil.example",),
    )  # fmt: skip
    assert (await api.get(f"{BASE}/jobs")).status_code == 200
    assert problem(await api.get(f"{BASE}/jobs", headers=headers)) == (401, "admin_required")
