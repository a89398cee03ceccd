"""Records are deleted on request and by age, with the tool server's audit, or not at all."""

from __future__ import annotations

import json
from datetime import timedelta

from pydantic import JsonValue

from backend.asking.erasure import RetentionSweep
from backend.settings import ApiSettings
from knowledge.errors import KnowledgeUnavailableError
from storage.asks import AskRecord, AskStore
from storage.columns import utc_now
from storage.database import Database
from tests.backend.conftest import Compose, Connect
from tests.backend.fakes import FakeAgent, says
from tests.backend.test_ask import ANSWER, QUESTION, strong
from tests.backend.test_gate import make_key

BODY = {"question": QUESTION}
BASE = "/api/v1/admin/records"


async def test_an_admin_deletes_one_record_for_good(
    connect: Connect, settings: ApiSettings
) -> None:
    knowledge = strong()
    client = await connect(knowledge, FakeAgent(says(ANSWER)), anonymous_ask=False)
    asker, admin = await make_key(settings, "ask"), await make_key(settings, "admin")
    ask_id = (await client.post("/ask", json=BODY, headers=asker)).json()["id"]
    kept = (await client.post("/ask", json=BODY, headers=asker)).json()["id"]
    refused = await client.delete(f"{BASE}/{ask_id}", headers=asker)
    assert (refused.status_code, refused.json()["code"]) == (403, "scope_missing")
    gone = await client.delete(f"{BASE}/{ask_id}", headers=admin)
    assert (gone.status_code, gone.json()) == (200, {"deleted": 1})
    for path in (f"/asks/{ask_id}", f"/asks/{ask_id}/record", f"/a/{ask_id}"):
        assert (await client.get(path, headers=asker)).status_code == 404
    assert {row.ask_id for row in knowledge.rows} == {kept}
    assert (await client.get(f"/asks/{kept}", headers=asker)).status_code == 200
    again = await client.delete(f"{BASE}/{ask_id}", headers=admin)
    assert (again.status_code, again.json()["code"]) == (404, "unknown_ask")


async def test_all_records_of_a_key_go_and_no_others(
    connect: Connect, settings: ApiSettings
) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)), anonymous_ask=False)
    one, other = await make_key(settings, "ask"), await make_key(settings, "ask")
    admin = await make_key(settings, "admin")
    asked = [(await client.post("/ask", json=BODY, headers=one)).json()["id"] for _ in range(3)]
    kept = (await client.post("/ask", json=BODY, headers=other)).json()["id"]
    name = one["authorization"].split("_")[1]
    gone = await client.delete(BASE, params={"caller": f"key-{name}"}, headers=admin)
    assert gone.json() == {"deleted": 3}
    assert [(await client.get(f"/asks/{i}", headers=admin)).status_code for i in asked] == [404] * 3
    assert (await client.get(f"/asks/{kept}", headers=admin)).status_code == 200
    bad = await client.delete(BASE, params={"caller": "%"}, headers=admin)
    assert (bad.status_code, bad.json()["code"]) == (422, "invalid_request")


async def test_without_the_tool_server_nothing_is_half_deleted(connect: Connect) -> None:
    knowledge = strong()
    client = await connect(knowledge, FakeAgent(says(ANSWER)))
    ask_id = (await client.post("/ask", json=BODY)).json()["id"]
    knowledge.audit_failure = KnowledgeUnavailableError("away")
    refused = await client.delete(f"{BASE}/{ask_id}")
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "2")
    assert (await client.get(f"/asks/{ask_id}")).status_code == 200


async def test_records_older_than_the_retention_are_deleted_and_younger_ones_stay(
    make_services: Compose, connect: Connect, settings: ApiSettings
) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)))
    old, young = [(await client.post("/ask", json=BODY)).json()["id"] for _ in range(2)]
    database = Database(settings.database_url)
    store = AskStore(database)
    async with database.write() as session:
        record = await session.get(AskRecord, old)
        assert record is not None
        record.created_at = utc_now() - timedelta(days=31)
        session.add(record)
    services = await make_services(strong(), FakeAgent(says(ANSWER)))
    assert await RetentionSweep(services.erasure, days=30).sweep() == 1
    assert await store.find(old) is None
    assert await store.find(young) is not None
    deleted = services.registry.get_sample_value(
        "vouch_records_deleted_total", {"why": "retention"}
    )
    assert deleted == 1
    await database.close()


async def test_a_record_that_waits_on_disk_is_deleted_there(
    make_services: Compose, settings: ApiSettings
) -> None:
    spool = settings.data_dir / "spool"
    spool.mkdir()
    record = {"id": "x", "caller": "anonymous", "created_at": "2020-01-01T00:00:00Z"}
    (spool / "x.json").write_text(json.dumps(record | _REST))
    services = await make_services(strong(), FakeAgent(says(ANSWER)))
    await services.erasure.erase_one("x")
    assert list(spool.iterdir()) == []


_REST: dict[str, JsonValue] = {
    "question": QUESTION, "search_question": QUESTION, "top_k": 4, "status": "answered",
    "abstained": False, "answer": "", "guard_mode": "fixed", "threshold": 0.5,
    "fidelity": "exact", "agent_kind": "llm", "model": "m", "build": "b",
    "response": {}, "verdict": {},
}  # fmt: skip
