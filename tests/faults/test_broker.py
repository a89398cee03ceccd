"""The broker away, broken, hung, babbling: jobs wait in the database, and are done later."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from storage import migrate
from storage.database import Database, database_url
from storage.job_orders import IngestOrder, OrderedSource
from storage.jobs import ACTIVE, JobRecord, JobStore
from tests.faults.proxy import Fate, FaultProxy, open_proxy
from tests.ingestion.broker_rig import BROKER_URL, open_rig

pytestmark = pytest.mark.rabbitmq

ROOT = Path(__file__).resolve().parents[2]
PORT = 5672


@dataclass
class Ground:
    folder: Path
    jobs: JobStore
    line: FaultProxy
    worker: subprocess.Popen[bytes]

    async def submit(self) -> str:
        source = OrderedSource(name="docs", kind="path", location=str(self.folder / "docs"))
        order = IngestOrder(sources=(source,))
        job = JobRecord(kind="ingest", request=order.model_dump(mode="json"))
        await self.jobs.submit(job)
        return job.id

    async def ended(self, job_id: str) -> JobRecord:
        while True:
            job = await self.jobs.find(job_id)
            assert job is not None
            assert self.worker.poll() is None, (self.folder / "worker.log").read_text()[-3000:]
            if job.state not in ACTIVE:
                return job
            # Another process is waited for; it tells nobody but the database.
            await asyncio.sleep(0.05)


def start_worker(path: Path, variables: dict[str, str]) -> subprocess.Popen[bytes]:
    with path.open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.faults.hash_worker"],
            env=variables,
            stdout=log,
            stderr=log,
        )


@pytest.fixture
async def ground(tmp_path: Path) -> AsyncIterator[Ground]:
    async with AsyncExitStack() as stack:
        rig = await stack.enter_async_context(open_rig())
        line = stack.enter_context(open_proxy(PORT, "absent"))
        (tmp_path / "docs").mkdir()
        (tmp_path / "docs" / "page.md").write_text("# Page\n\nThe tide is in at noon.\n")
        url = database_url("", tmp_path / "data", "vouch")
        await asyncio.to_thread(migrate.upgrade, url)
        database = Database(url)
        stack.push_async_callback(database.close)
        variables = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "VOUCH_DATA_DIR": str(tmp_path / "data"),
            "VOUCH_INGEST_ROOTS": str(tmp_path),
            "VOUCH_WORKER_POLL_SECONDS": "0.05",
            "VOUCH_JOB_LEASE_SECONDS": "3",
            "VOUCH_CHUNKER": "structural",
            "VOUCH_BROKER_URL": BROKER_URL.replace(f":{PORT}", f":{line.port}"),
            "VOUCH_BROKER_EXCHANGE": rig.exchange,
            "VOUCH_BROKER_INGESTION_QUEUE": rig.queue,
        }
        worker = start_worker(tmp_path / "worker.log", variables)
        stack.callback(worker.wait, 10)
        stack.callback(worker.kill)
        yield Ground(tmp_path, JobStore(database), line, worker)


async def test_jobs_outlast_every_fault_of_the_broker(ground: Ground) -> None:
    fates: tuple[Fate, ...] = ("absent", "cut", "hang", "garbage")
    for fate in fates:
        ground.line.be(fate)
        waiting = await ground.submit()
        if fate != "absent":
            assert await asyncio.to_thread(ground.line.touched.wait, 60)
        job = await ground.jobs.find(waiting)
        assert job is not None
        assert job.state in ACTIVE
        ground.line.be("pass")
        assert (await ground.ended(waiting)).state == "done"
