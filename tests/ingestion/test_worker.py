"""Jobs done by a worker in this process, from the database and through a real broker."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import SecretStr

from ingestion.toolbox import Toolbox
from ingestion.worker import run_worker
from ingestion.worker_settings import WorkerSettings
from retrieval.opening import open_catalog
from retrieval.store import Filter
from service.broker_message import read_message
from service.ending import end_tasks
from service.errors import BrokerError
from storage import migrate
from storage.database import Database, database_url
from storage.index_view import IndexView
from storage.job_orders import GcOrder, IngestOrder, OrderedSource
from storage.jobs import ACTIVE, JobRecord, JobStore
from tests.ingestion.broker_rig import Rig, open_rig
from tests.ingestion.fakes import HashEmbedder
from tests.ingestion.hash_tools import hash_tools
from tests.waiting import until


@dataclass
class Yard:
    """A data folder, a folder of documents, and a worker beside them."""

    root: Path
    settings: WorkerSettings
    database: Database
    jobs: JobStore
    embedder: HashEmbedder
    rig: Rig | None

    def write(self, name: str, text: str) -> None:
        path = self.root / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def order(self, *names: str, removed: tuple[str, ...] = ()) -> JobRecord:
        sources = tuple(
            OrderedSource(name=name, kind="path", location=str(self.root / name)) for name in names
        )
        order = IngestOrder(sources=sources, removed=removed)
        return JobRecord(kind="ingest", request=order.model_dump(mode="json"))

    async def run(self, job: JobRecord) -> JobRecord:
        await self.jobs.submit(job)
        return await self.ended(job.id)

    async def ended(self, job_id: str) -> JobRecord:
        async def has_ended() -> bool:
            found = await self.jobs.find(job_id)
            return found is not None and found.state not in ACTIVE

        await until(has_ended)
        job = await self.jobs.find(job_id)
        assert job is not None
        return job

    async def texts(self) -> list[str]:
        catalog = open_catalog(self.settings)
        manifest = await catalog.current()
        if manifest is None:
            return []
        opened = await catalog.open(manifest.build)
        try:
            everything = Filter(all_labels=True)
            return sorted([p.chunk.text async for p in opened.store.scan(where=everything)])
        finally:
            await opened.store.close()


@pytest.fixture(params=["database", pytest.param("broker", marks=pytest.mark.rabbitmq)])
async def yard(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Yard]:
    async with AsyncExitStack() as stack:
        rig = await stack.enter_async_context(open_rig()) if request.param == "broker" else None
        settings = WorkerSettings(
            data_dir=tmp_path / "data",
            ingest_roots=str(tmp_path),
            worker_poll_seconds=0.02,
            broker_url=SecretStr(rig.url if rig else ""),
            broker_exchange=rig.exchange if rig else "vouch",
            broker_ingestion_queue=rig.queue if rig else "ingestion_q",
        )
        url = database_url("", settings.data_dir, "vouch")
        await asyncio.to_thread(migrate.upgrade, url)
        database = Database(url)
        stack.push_async_callback(database.close)
        made = Yard(tmp_path, settings, database, JobStore(database), HashEmbedder(), rig)
        working = asyncio.create_task(
            run_worker(settings, url, Toolbox(settings, hash_tools(made.embedder)))
        )
        yield made
        await end_tasks(working)


async def test_a_folder_becomes_a_build_and_the_job_tells_of_each_document(yard: Yard) -> None:
    yard.write("a.md", "# Alpha\n\nThe first fact.\n")
    yard.write("b.md", "# Beta\n\nThe second fact.\n")
    (yard.root / "docs" / "broken.md").write_bytes(b"\x00\x01\x02\xff\xfe")
    job = await yard.run(yard.order("docs"))
    assert job.state == "done", job.error
    assert await yard.texts() == ["The first fact.", "The second fact."]
    documents = await yard.jobs.documents(job.id)
    assert [(d.name, d.state, d.chunks) for d in documents] == [
        ("docs/a.md", "done", 1),
        ("docs/b.md", "done", 1),
        ("docs/broken.md", "failed", 0),
    ]
    assert documents[2].reason
    assert job.report["build"] == job.build

    async def is_tidy() -> bool:
        return not list((yard.settings.data_dir / "staging").iterdir())

    await until(is_tidy)


async def test_nothing_that_can_be_read_is_a_failure_with_the_reasons(yard: Yard) -> None:
    yard.write("a.md", "# Alpha\n\nThe first fact.\n")
    first = await yard.run(yard.order("docs"))
    (yard.root / "other").mkdir()
    (yard.root / "other" / "broken.md").write_bytes(b"\x00\x01\x02\xff\xfe")
    job = await yard.run(yard.order("other"))
    assert (job.state, job.error_code) == ("failed", "empty_run")
    assert "broken.md" in job.error
    catalog = open_catalog(yard.settings)
    assert await catalog.pointer() == first.build


async def test_a_folder_outside_the_roots_is_the_jobs_failure(yard: Yard) -> None:
    order = IngestOrder(sources=(OrderedSource(name="etc", kind="path", location="/etc"),))
    job = await yard.run(JobRecord(kind="ingest", request=order.model_dump(mode="json")))
    assert (job.state, job.error_code) == ("failed", "bad_source")
    assert "outside the folders" in job.error


async def test_an_unchanged_folder_is_embedded_once_and_makes_no_new_build(yard: Yard) -> None:
    yard.write("a.md", "# Alpha\n\nThe first fact.\n")
    first = await yard.run(yard.order("docs"))
    embedded = len(yard.embedder.embedded)
    second = await yard.run(yard.order("docs"))
    assert second.build == first.build
    assert len(yard.embedder.embedded) == embedded == 1


async def test_a_deleted_page_is_gone_rollback_restores_it_and_gc_cleans_up(yard: Yard) -> None:
    yard.write("a.md", "# Alpha\n\nThe first fact.\n")
    yard.write("b.md", "# Beta\n\nThe second fact.\n")
    first = await yard.run(yard.order("docs"))
    (yard.root / "docs" / "b.md").unlink()
    second = await yard.run(yard.order("docs"))
    assert await yard.texts() == ["The first fact."]
    back = await yard.run(JobRecord(kind="rollback"))
    assert back.build == first.build
    assert await yard.texts() == ["The first fact.", "The second fact."]
    forth = await yard.run(JobRecord(kind="publish", request={"build": second.build}))
    assert (forth.state, await yard.texts()) == ("done", ["The first fact."])
    cleaned = await yard.run(JobRecord(kind="gc", request=GcOrder(keep=1).model_dump()))
    assert cleaned.report == {"removed": [first.build]}
    missing = await yard.run(JobRecord(kind="publish", request={"build": first.build}))
    assert missing.state == "failed"


async def test_a_removed_source_leaves_the_index(yard: Yard) -> None:
    yard.write("a.md", "# Alpha\n\nThe first fact.\n")
    shutil.copytree(yard.root / "docs", yard.root / "copy")
    (yard.root / "copy" / "a.md").write_text("# Other\n\nThe other fact.\n")
    await yard.run(yard.order("docs", "copy"))
    job = await yard.run(yard.order(removed=("docs",)))
    assert job.state == "done", job.error
    assert await yard.texts() == ["The other fact."]


async def test_the_view_names_workers_profiles_builds_and_sources(yard: Yard) -> None:
    yard.write("a.md", "# Alpha\n\nThe first fact.\n")
    job = await yard.run(yard.order("docs"))
    view = IndexView(yard.database)

    async def is_shown() -> bool:
        latest = await view.latest()
        return latest is not None and latest.current == job.build

    await until(is_shown)
    shown = await view.latest()
    assert shown is not None
    (worker,) = await view.workers()
    (source,) = await view.sources()
    assert "default" in worker.profiles
    assert [build["build"] for build in shown.builds] == [job.build]
    assert (source.name, source.location) == ("docs", str(yard.root / "docs"))


async def test_a_message_of_another_form_is_put_aside_and_stops_nothing(yard: Yard) -> None:
    if yard.rig is None:
        pytest.skip("only a broker brings messages")
    yard.write("a.md", "# Alpha\n\nThe first fact.\n")
    await yard.run(yard.order("docs"))
    await yard.rig.send(b"not json")
    job = await yard.run(yard.order("docs"))
    assert job.state == "done"
    rig = yard.rig

    async def is_put_aside() -> bool:
        return (await rig.waiting(f"{rig.queue}.dead"), await rig.waiting(rig.queue)) == (1, 0)

    await until(is_put_aside)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'{"version": 2, "task_id": "a"}',
        b'{"version": 1, "task_id": "a", "more": 1}',
        b'{"version": 1, "task_id": "../a"}',
        b'{"version": 1, "task_id": "' + b"a" * 5000 + b'"}',
    ],
)
def test_a_message_is_held_to_its_form_and_size(body: bytes) -> None:
    with pytest.raises(BrokerError):
        read_message(body)
