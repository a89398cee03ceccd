"""Queues as a scraper sees them: tasks, repeats, questions, workers, dead letters."""

from __future__ import annotations

import httpx
import pytest
from pydantic import SecretStr

from backend.settings import ApiSettings
from storage.database import Database
from storage.index_view import IndexView
from storage.job_queue import JobQueue, LeaseRules
from storage.jobs import JobRecord, JobStore
from tests.backend.conftest import Connect
from tests.backend.fakes import FakeAgent, knows, says
from tests.ingestion.broker_rig import open_rig


async def read(client: httpx.AsyncClient) -> dict[str, float]:
    lines = (await client.get("/metrics")).text.splitlines()
    pairs = (line.rsplit(" ", 1) for line in lines if line and not line.startswith("#"))
    return {name: float(number) for name, number in pairs}


async def test_tasks_repeats_questions_and_silence_are_counted(
    connect: Connect, settings: ApiSettings
) -> None:
    client = await connect(knows({}), FakeAgent(says("x")))
    before = await read(client)
    assert before["vouch_worker_silence_seconds"] == -1
    assert before['vouch_job_tasks{state="queued"}'] == 0
    database = Database(settings.database_url)
    await IndexView(database).announce("w", ["default"])
    await JobStore(database).submit(JobRecord(kind="ingest"))
    queue = JobQueue(database, LeaseRules(seconds=-1.0))
    assert await queue.claim("killed") is not None
    assert await queue.claim("next") is not None
    await client.post("/ask", json={"question": "Any?"}, headers={"prefer": "respond-async"})
    after = await read(client)
    await database.close()
    assert after['vouch_job_tasks{state="running"}'] == 1
    assert after["vouch_job_task_repeats"] == 1
    assert after['vouch_queued_asks{state="queued"}'] == 1
    assert after["vouch_worker_silence_seconds"] >= 0
    assert not any(name.startswith("vouch_broker") for name in after)


@pytest.mark.rabbitmq
async def test_what_the_broker_put_aside_is_counted(connect: Connect) -> None:
    async with open_rig() as rig:
        from service.broker import BrokerNames, open_broker  # noqa: PLC0415 - only with a broker

        names = BrokerNames(rig.exchange, rig.queue, 3)
        async with open_broker(rig.url, names, prefetch=1) as broker:
            await rig.send(b"not json")
            message = await broker.queue.get(timeout=10)
            assert message is not None
            await message.reject(requeue=False)
        client = await connect(
            knows({}), FakeAgent(says("x")), broker_url=SecretStr(rig.url),
            broker_ingestion_queue=rig.queue, broker_request_queue=f"{rig.queue}-absent",
        )  # fmt: skip
        found = await read(client)
    assert found[f'vouch_broker_messages{{queue="{rig.queue}.dead"}}'] == 1
    assert found[f'vouch_broker_messages{{queue="{rig.queue}-absent"}}'] == 0
    assert found['vouch_broker_up{broker="rabbitmq"}'] == 1


async def test_a_broker_that_is_down_is_told(connect: Connect) -> None:
    client = await connect(
        knows({}), FakeAgent(says("x")), broker_url=SecretStr("amqp://guest:guest@127.0.0.1:9/")
    )
    assert (await read(client))['vouch_broker_up{broker="rabbitmq"}'] == 0
