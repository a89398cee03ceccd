"""A record is stored before its answer goes out, or the answer is not given, or it is spooled."""

from __future__ import annotations

from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from backend.asking.records import Recorder
from backend.caller import ANONYMOUS
from backend.contract import AskRequest, AskResponse
from backend.errors import RecordUnavailableError, UnknownAskError
from backend.metrics import AskMetrics
from backend.settings import RecordPolicy
from storage.asks import AskRecord
from storage.errors import DatabaseUnavailableError
from tests.backend.conftest import Compose, Connect
from tests.backend.fakes import FakeAgent, says
from tests.backend.test_ask import ANSWER, QUESTION, strong


class Store:
    """A store that can be down."""

    def __init__(self) -> None:
        self.is_down = False
        self.records: dict[str, AskRecord] = {}

    async def save(self, record: AskRecord) -> None:
        if self.is_down:
            raise DatabaseUnavailableError("down")
        self.records[record.id] = record

    async def find(self, ask_id: str) -> AskRecord | None:
        if self.is_down:
            raise DatabaseUnavailableError("down")
        return self.records.get(ask_id)


@pytest.fixture
def store() -> Store:
    return Store()


def recorder(store: Store, folder: Path, policy: RecordPolicy) -> Recorder:
    metrics = AskMetrics(CollectorRegistry())
    return Recorder(store, policy=policy, spool=folder / "spool", metrics=metrics)


@pytest.fixture
async def record(make_services: Compose) -> AskRecord:
    services = await make_services(strong(), FakeAgent(says(ANSWER)))
    response = await services.asker.answer(AskRequest(question=QUESTION), ANONYMOUS)
    return await services.recorder.find(response.id, ANONYMOUS)


async def test_a_database_that_is_down_refuses_the_answer(
    store: Store, record: AskRecord, tmp_path: Path
) -> None:
    store.is_down = True
    with pytest.raises(RecordUnavailableError):
        await recorder(store, tmp_path, "refuse").store(record)
    assert not (tmp_path / "spool").exists()


async def test_a_spooled_record_says_so_is_found_and_moves_once_the_database_is_back(
    store: Store, record: AskRecord, tmp_path: Path
) -> None:
    spooling = recorder(store, tmp_path, "spool")
    store.is_down = True
    stored = await spooling.store(record)
    assert "record_spooled" in AskResponse.model_validate(stored.response).degraded
    assert (await spooling.find(record.id, ANONYMOUS)).response == stored.response
    store.is_down = False
    restarted = recorder(store, tmp_path, "spool")
    assert await restarted.drain() == 1
    assert list((tmp_path / "spool").iterdir()) == []
    moved = await restarted.find(record.id, ANONYMOUS)
    assert moved.response == stored.response
    assert moved.created_at == record.created_at


async def test_draining_stops_while_the_database_is_down(
    store: Store, record: AskRecord, tmp_path: Path
) -> None:
    spooling = recorder(store, tmp_path, "spool")
    store.is_down = True
    await spooling.store(record)
    assert await spooling.drain() == 0
    assert len(list((tmp_path / "spool").iterdir())) == 1


async def test_a_spool_file_that_is_no_record_is_left_alone(store: Store, tmp_path: Path) -> None:
    (tmp_path / "spool").mkdir()
    (tmp_path / "spool" / "broken.json").write_text("{}")
    assert await recorder(store, tmp_path, "spool").drain() == 0
    assert (tmp_path / "spool" / "broken.json").exists()


async def test_an_id_never_leads_out_of_the_spool(store: Store, tmp_path: Path) -> None:
    (tmp_path / "outside.json").write_text("{}")
    with pytest.raises(UnknownAskError):
        await recorder(store, tmp_path, "spool").find("../outside", ANONYMOUS)


async def test_over_http_a_database_that_is_down_is_503_or_a_spooled_answer(
    connect: Connect,
) -> None:
    unreachable = "postgresql://nobody@127.0.0.1:9/none"
    client = await connect(
        strong(), FakeAgent(says(ANSWER)), database_url=unreachable, guard_mode="fixed"
    )
    reply = await client.post("/ask", json={"question": QUESTION})
    assert (reply.status_code, reply.json()["code"]) == (503, "record_unavailable")
    assert ANSWER not in reply.text
    client = await connect(
        strong(), FakeAgent(says(ANSWER)), database_url=unreachable, record_policy="spool"
    )
    body = (await client.post("/ask", json={"question": QUESTION})).json()
    assert body["answer"] == ANSWER
    assert {"record_spooled", "calibration_unreadable"} <= set(body["degraded"])
    assert (await client.get(f"/asks/{body['id']}")).json() == body
