"""The worker is killed at random moments, with either queue, while somebody searches all the while.

Ten times a queue here; ``make torture`` sets VOUCH_TORTURE_ROUNDS to a hundred.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from retrieval.builds import BuildCatalog
from retrieval.engine import Engine
from retrieval.manifest import Manifest
from retrieval.opening_models import open_sparse_encoder
from retrieval.profiles import SearchProfile
from retrieval.query_embedding import QueryEmbedder
from retrieval.search import SearchRequest
from retrieval.serving import ServingBuilds
from retrieval.store import Filter
from storage import migrate
from storage.database import Database, database_url
from storage.job_orders import IngestOrder, OrderedSource
from storage.jobs import ACTIVE, JobRecord, JobStore
from tests.ingestion.broker_rig import open_rig
from tests.ingestion.fakes import HashEmbedder

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = int(os.environ.get("VOUCH_TORTURE_ROUNDS", "10"))
DOCUMENTS = 60
_ROUND = re.compile(r"round (\d+)")


@dataclass
class Ground:
    """Data folder, documents, database and a worker that can be killed."""

    folder: Path
    jobs: JobStore
    environment: dict[str, str]
    worker: subprocess.Popen[bytes] | None = None

    def write(self, number: int) -> None:
        docs = self.folder / "docs"
        docs.mkdir(exist_ok=True)
        for place in range(DOCUMENTS):
            text = f"# Page {place}\n\nFact {place} as of round {number}.\n"
            (docs / f"{place}.md").write_text(text)

    def start(self) -> None:
        with (self.folder / "worker.log").open("ab") as log:
            self.worker = subprocess.Popen(
                [sys.executable, "-m", "tests.faults.hash_worker"],
                env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **self.environment},
                stdout=log,
                stderr=log,
            )

    def kill(self) -> None:
        if self.worker is not None:
            self.worker.kill()
            self.worker.wait(10)

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
            assert self.worker is not None
            assert self.worker.poll() is None, (self.folder / "worker.log").read_text()[-2000:]
            if job.state not in ACTIVE:
                return job
            # Another process is waited for; it tells nobody but the database.
            await asyncio.sleep(0.05)


@dataclass
class Reader:
    """Searches without pause and notes everything that should never be seen."""

    engine: Engine
    builds: ServingBuilds
    searches: int = 0
    faults: list[str] = field(default_factory=list[str])

    async def read_all(self) -> list[str]:
        await self.engine.refresh()
        async with self.builds.lease("") as opened:
            everything = Filter(all_labels=True)
            return sorted([p.chunk.text async for p in opened.store.scan(where=everything)])

    async def run(self) -> None:
        while True:
            request = SearchRequest(f"fact {self.searches % DOCUMENTS}", top_k=20)
            try:
                outcome = await self.engine.search(request)
            except Exception as error:  # noqa: BLE001 - any error at all is a fault
                self.faults.append(repr(error))
            else:
                texts = [hit.chunk.text for hit in outcome.hits]
                rounds = {_ROUND.findall(text)[0] for text in texts}
                if len(texts) != 20 or len(rounds) != 1:
                    self.faults.append(f"{len(texts)} hits of rounds {rounds}")
            self.searches += 1
            await asyncio.sleep(0.01)


@pytest.fixture(params=["database", pytest.param("broker", marks=pytest.mark.rabbitmq)])
async def ground(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Ground]:
    async with AsyncExitStack() as stack:
        environment = {
            "VOUCH_DATA_DIR": str(tmp_path / "data"),
            "VOUCH_INGEST_ROOTS": str(tmp_path),
            "VOUCH_WORKER_POLL_SECONDS": "0.05",
            "VOUCH_JOB_LEASE_SECONDS": "3",
            "VOUCH_CHUNKER": "structural",
        }
        if request.param == "broker":
            rig = await stack.enter_async_context(open_rig())
            environment |= {
                "VOUCH_BROKER_URL": rig.url,
                "VOUCH_BROKER_EXCHANGE": rig.exchange,
                "VOUCH_BROKER_INGESTION_QUEUE": rig.queue,
            }
        url = database_url("", tmp_path / "data", "vouch")
        await asyncio.to_thread(migrate.upgrade, url)
        database = Database(url)
        stack.push_async_callback(database.close)
        made = Ground(tmp_path, JobStore(database), environment)
        stack.callback(made.kill)
        yield made


def accept_any(manifest: Manifest) -> None:
    del manifest


def open_reader(folder: Path) -> Reader:
    builds = ServingBuilds(
        BuildCatalog(folder / "data", "docs"),
        accept_any,
        keep_seconds=5.0,
        check_seconds=0.0,
    )
    return Reader(
        Engine(
            builds,
            QueryEmbedder(HashEmbedder(), cache_size=100),
            open_sparse_encoder(),
            profiles={"default": SearchProfile(near_duplicate_cosine=2.0)},
            default_profile="default",
        ),
        builds,
    )


@pytest.mark.timeout(60 + 30 * ROUNDS)
async def test_a_worker_killed_at_random_moments_loses_and_doubles_nothing(ground: Ground) -> None:
    seed = random.randrange(1 << 30)  # noqa: S311 - moments, not secrets
    print(f"seed {seed}")  # noqa: T201 - to repeat a run that failed
    moments = random.Random(seed)  # noqa: S311 - likewise
    ground.write(0)
    ground.start()
    first = await ground.ended(await ground.submit())
    assert first.state == "done", first.error
    reader = open_reader(ground.folder)
    reading = asyncio.create_task(reader.run())
    usual_seconds = 2.0
    for number in range(1, ROUNDS + 1):
        ground.write(number)
        started = time.monotonic()
        job_id = await ground.submit()
        # The kill is the experiment: it comes at a moment that nothing announces.
        await asyncio.sleep(moments.uniform(0, usual_seconds))
        ground.kill()
        ground.start()
        job = await ground.ended(job_id)
        usual_seconds = max(0.5, (time.monotonic() - started) / 3)
        assert job.state == "done", job.error
        documents = await ground.jobs.documents(job_id)
        assert [d.state for d in documents] == ["done"] * DOCUMENTS
        expected = sorted(f"Fact {n} as of round {number}." for n in range(DOCUMENTS))
        assert await reader.read_all() == expected
    reading.cancel()
    await reader.engine.close()
    assert reader.faults == []
    assert reader.searches > ROUNDS
    print(f"{ROUNDS} kills, {reader.searches} searches")  # noqa: T201
