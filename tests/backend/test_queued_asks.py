"""Questions asked with ``Prefer: respond-async``: queued, answered later, told truthfully."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from pydantic import SecretStr

from agent.contract import AgentOutcome, AgentTask
from agent.errors import ModelUnavailableError
from backend.app import create_app
from backend.asking.queued import prefers_async
from backend.caller import ANONYMOUS
from backend.contract import AskRequest
from backend.errors import NotAuthenticatedError
from backend.services import Services
from backend.settings import ApiSettings
from knowledge.errors import KnowledgeUnavailableError
from knowledge.tools import KnowledgeTools
from storage.keys import KeyStore, new_key
from storage.queued_asks import AskQueue
from tests.backend.conftest import Compose
from tests.backend.factories import make_result
from tests.backend.fakes import FakeAgent, FakeKnowledge, fails, hangs, knows, says
from tests.backend.test_budgets import pays
from tests.ingestion.broker_rig import Rig, open_rig
from tests.waiting import until

QUESTION = "What is the text of c1?"
ANSWER = "The text of c1 [1]."
LATER = {"prefer": "respond-async"}


def strong() -> FakeKnowledge:
    return knows({QUESTION: make_result("c1", "c2", query=QUESTION)})


class House:
    """An application with its worker, and a client before it."""

    def __init__(self, services: Services, client: httpx.AsyncClient) -> None:
        self.services = services
        self.client = client

    async def queue(self, **headers: str) -> str:
        response = await self.client.post(
            "/ask", json={"question": QUESTION}, headers={**LATER, **headers}
        )
        assert response.status_code == 202, response.text
        return response.headers["location"]

    async def settled(self, location: str, **headers: str) -> httpx.Response:
        """Look until it is not pending any more; the worker tells nobody but the database."""
        while True:
            response = await self.client.get(location, headers=headers)
            if response.status_code != 202:
                return response
            await asyncio.sleep(0.01)


Open = Callable[..., Awaitable[House]]


@pytest.fixture(params=["database", pytest.param("broker", marks=pytest.mark.rabbitmq)])
async def rig(request: pytest.FixtureRequest) -> AsyncIterator[Rig | None]:
    if request.param == "database":
        yield None
        return
    async with open_rig() as made:
        yield made


@pytest.fixture
async def open_house(
    settings: ApiSettings, make_services: Compose, rig: Rig | None
) -> AsyncIterator[Open]:
    async with AsyncExitStack() as stack:

        async def make(knowledge: FakeKnowledge, agent: FakeAgent, **changes: object) -> House:
            changes = {"queued_asks_poll_seconds": 0.02, **changes}
            if rig is not None:
                changes |= {
                    "broker_url": SecretStr(rig.url),
                    "broker_exchange": rig.exchange,
                    "broker_request_queue": rig.queue,
                }
            services = await make_services(knowledge, agent, **changes)

            @asynccontextmanager
            async def opener(_: ApiSettings) -> AsyncGenerator[Services]:
                async with services.queued.running():
                    yield services

            app = create_app(settings.model_copy(update=changes), opener)
            await stack.enter_async_context(app.router.lifespan_context(app))
            client = await stack.enter_async_context(
                httpx.AsyncClient(
                    transport=httpx.ASGITransport(app, raise_app_exceptions=False),
                    base_url="http://127.0.0.1:8000",
                )
            )
            return House(services, client)

        yield make


async def is_settled(queue: AskQueue, ask_id: str) -> bool:
    row = await queue.find(ask_id)
    return row is None or row.state == "failed"


async def test_a_queued_question_gets_the_answer_of_a_direct_one(open_house: Open) -> None:
    house = await open_house(strong(), FakeAgent(says(ANSWER)))
    accepted = await house.client.post("/ask", json={"question": QUESTION}, headers=LATER)
    assert accepted.status_code == 202
    assert accepted.headers["preference-applied"] == "respond-async"
    assert accepted.headers["location"] == f"/asks/{accepted.json()['id']}"
    assert (accepted.json()["status"], accepted.json()["state"]) == ("pending", "queued")
    later = (await house.settled(accepted.headers["location"])).json()
    direct = (await house.client.post("/ask", json={"question": QUESTION})).json()
    assert later["id"] == accepted.json()["id"]
    for part in ("status", "answer", "guard", "citations", "fidelity", "retrieved_chunks"):
        assert later[part] == direct[part], part
    record = await house.client.get(f"/asks/{later['id']}/record")
    assert record.json()["question"] == QUESTION
    assert await house.services.queued.asks.queue.find(later["id"]) is None


async def test_a_queued_question_is_refused_by_the_same_guard(open_house: Open) -> None:
    weak = knows({QUESTION: make_result("c1", query=QUESTION, best_cosine=0.2)})
    house = await open_house(weak, FakeAgent(says(ANSWER)))
    response = (await house.settled(await house.queue())).json()
    assert (response["status"], response["citations"]) == ("abstained", [])


async def test_while_it_is_answered_it_says_so_with_status_202(open_house: Open) -> None:
    agent = FakeAgent(hangs())
    house = await open_house(strong(), agent)
    location = await house.queue()
    await agent.started.wait()
    response = await house.client.get(location)
    assert (response.status_code, response.json()["state"]) == (202, "running")
    assert int(response.headers["retry-after"]) > 0
    ask_id = response.json()["id"]
    assert (await house.client.get(f"/a/{ask_id}")).status_code == 409


async def test_a_failure_is_told_as_a_direct_ask_would_have_been(open_house: Open) -> None:
    house = await open_house(strong(), FakeAgent(fails(ModelUnavailableError("no model"))))
    response = await house.settled(await house.queue())
    direct = await house.client.post("/ask", json={"question": QUESTION})
    assert response.status_code == 200
    failed = response.json()
    assert failed["status"] == "failed"
    assert "answer" not in failed
    problem = {name: part for name, part in failed["problem"].items() if part}
    assert problem == {name: part for name, part in direct.json().items() if part}
    assert problem["status"] == direct.status_code == 502
    page = await house.client.get(f"/a/{failed['id']}", headers={"accept": "text/html"})
    assert page.status_code == 409


async def test_an_index_that_is_away_is_waited_for(open_house: Open) -> None:
    knowledge = strong()
    knowledge.failures["guard"] = [KnowledgeUnavailableError("down")]
    house = await open_house(knowledge, FakeAgent(says(ANSWER)))
    response = await house.settled(await house.queue())
    assert response.json()["status"] == "answered"


async def test_an_index_that_stays_away_is_the_outcome(open_house: Open) -> None:
    knowledge = strong()
    knowledge.failures["guard"] = [KnowledgeUnavailableError("down")] * 2
    house = await open_house(knowledge, FakeAgent(says(ANSWER)), queued_asks_most_attempts=1)
    problem = (await house.settled(await house.queue())).json()["problem"]
    assert (problem["status"], problem["code"]) == (503, "knowledge_unavailable")


async def test_beyond_the_queue_questions_are_turned_away(open_house: Open) -> None:
    agent = FakeAgent(hangs())
    house = await open_house(strong(), agent, queued_asks_waiting=1)
    await house.queue()
    response = await house.client.post("/ask", json={"question": QUESTION}, headers=LATER)
    assert (response.status_code, response.json()["code"]) == (503, "overloaded")
    assert int(response.headers["retry-after"]) > 0


async def test_labels_and_key_hold_when_the_question_is_answered(
    open_house: Open, settings: ApiSettings
) -> None:
    knowledge = strong()
    house = await open_house(knowledge, FakeAgent(says(ANSWER)))
    keys = KeyStore(house.services.database)
    inner, inner_record = new_key("inner", ["ask"], ["internal"], daily_tokens=500)
    outer, outer_record = new_key("outer", ["ask"], [])
    await keys.save(inner_record)
    await keys.save(outer_record)
    bearer = {"authorization": f"Bearer {inner}"}
    location = await house.queue(**bearer)
    assert (await house.settled(location, **bearer)).json()["status"] == "answered"
    assert {claims.labels for claims, *_ in knowledge.calls} == {("internal",)}
    record = (await house.client.get(f"{location}/record", headers=bearer)).json()
    assert (record["caller"], record["labels"]) == (f"key-{inner_record.id}", ["internal"])
    other = {"authorization": f"Bearer {outer}"}
    assert (await house.client.get(location, headers=other)).status_code == 404


async def test_a_spent_token_budget_is_the_outcome(open_house: Open) -> None:
    house = await open_house(strong(), FakeAgent(pays()), queued_asks_running=1)
    key, record = new_key("inner", ["ask"], [], daily_tokens=100)
    await KeyStore(house.services.database).save(record)
    bearer = {"authorization": f"Bearer {key}"}
    first = await house.settled(await house.queue(**bearer), **bearer)
    assert first.json()["status"] == "answered"
    second = (await house.settled(await house.queue(**bearer), **bearer)).json()
    assert (second["status"], second["problem"]["status"]) == ("failed", 429)
    assert second["problem"]["code"] == "daily_tokens_spent"


async def test_a_pending_question_is_not_shown_to_who_lacks_its_labels(open_house: Open) -> None:
    agent = FakeAgent(hangs())
    house = await open_house(strong(), agent)
    key, record = new_key("inner", ["ask"], ["internal"])
    await KeyStore(house.services.database).save(record)
    bearer = {"authorization": f"Bearer {key}"}
    location = await house.queue(**bearer)
    assert (await house.client.get(location, headers=bearer)).status_code == 202
    assert (await house.client.get(location)).status_code == 404


async def test_a_key_revoked_in_between_ends_the_question(open_house: Open) -> None:
    knowledge = strong()
    house = await open_house(knowledge, FakeAgent(says(ANSWER)), queued_asks_running=1)
    key, record = new_key("inner", ["ask"], ["internal"])
    keys = KeyStore(house.services.database)
    await keys.save(record)
    pause = asyncio.Event()
    knowledge.gates["guard"] = pause
    await house.queue()  # takes the only place
    location = await house.queue(authorization=f"Bearer {key}")
    await keys.revoke(record.id)
    pause.set()
    ask_id = location.rpartition("/")[2]
    queue = house.services.queued.asks.queue
    await until(lambda: is_settled(queue, ask_id))
    row = await queue.find(ask_id)
    assert row is not None
    assert row.problem["code"] == NotAuthenticatedError.code
    assert all(claims.labels == () for claims, *_ in knowledge.calls)


async def test_what_a_stopped_process_had_in_hand_is_answered_by_the_next(
    make_services: Compose,
) -> None:
    first = FakeAgent(hangs())
    services = await make_services(strong(), first)
    async with services.queued.running():
        pending = await services.queued.asks.submit(AskRequest(question=QUESTION), ANONYMOUS)
        await first.started.wait()
    second = await make_services(strong(), FakeAgent(says(ANSWER)))
    async with second.queued.running():
        await until(lambda: is_settled(second.queued.asks.queue, pending.id))
    record = await second.recorder.find(pending.id, ANONYMOUS)
    assert record.answer == ANSWER


async def test_a_question_whose_record_is_stored_is_not_answered_twice(
    make_services: Compose,
) -> None:
    async def never(task: AgentTask, tools: KnowledgeTools) -> AgentOutcome:
        raise AssertionError("it was answered before")

    services = await make_services(strong(), FakeAgent(says(ANSWER)))
    pending = await services.queued.asks.submit(AskRequest(question=QUESTION), ANONYMOUS)
    await services.asker.answer(AskRequest(question=QUESTION), ANONYMOUS, ask_id=pending.id)
    again = await make_services(strong(), FakeAgent(never))
    async with again.queued.running():
        await until(lambda: is_settled(again.queued.asks.queue, pending.id))


async def test_a_question_no_attempt_ever_ended_is_given_up(make_services: Compose) -> None:
    services = await make_services(strong(), FakeAgent(says(ANSWER)), queued_asks_most_attempts=1)
    # Leases end at once: as if whoever had it was killed.
    queue = AskQueue(services.database, lease_seconds=-1.0)
    pending = await services.queued.asks.submit(AskRequest(question=QUESTION), ANONYMOUS)
    assert await queue.claim() is not None
    async with services.queued.running():
        await until(lambda: is_settled(queue, pending.id))
    row = await queue.find(pending.id)
    assert row is not None
    assert row.problem["code"] == "given_up"
    assert await queue.purge_failed(datetime.now(UTC) + timedelta(seconds=1)) == 1


@pytest.mark.parametrize(
    ("prefer", "wanted"),
    [
        ("respond-async", True),
        ("wait=5, Respond-Async", True),
        ('respond-async; foo="bar"', True),
        ("", False),
        ("return=minimal", False),
        ("respond-asynchronously", False),
    ],
)
def test_the_preference_is_read_as_the_standard_has_it(prefer: str, wanted: bool) -> None:
    assert prefers_async(prefer) is wanted
