"""Daily token budgets at every door, and what becomes of tokens when a call does not end well."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import httpx
import pytest
from prometheus_client import CollectorRegistry
from sqlalchemy import text

from agent.chat import ChatReply
from agent.contract import AgentOutcome, AgentTask, TokenUsage
from agent.errors import (
    AgentError,
    DailyTokensSpentError,
    ModelTimeoutError,
    ModelUnavailableError,
)
from agent.paid import pay
from backend.caller import Caller
from backend.edge.purses import Purse, Purses, TokenMetrics
from backend.settings import ApiSettings
from knowledge.tools import KnowledgeTools
from storage.database import Database
from storage.keys import KeyStore, new_key
from storage.spending import SpendingStore
from tests.backend.conftest import Connect
from tests.backend.factories import make_outcome
from tests.backend.fakes import FakeAgent, Script, says
from tests.backend.test_ask import ANSWER, QUESTION, strong

BODY = {"question": QUESTION}
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
REPLY = ChatReply(ANSWER, (), TokenUsage(60, 20))


async def reply() -> ChatReply:
    return REPLY


def pays(prompt: int = 60, answer: int = 40) -> Script:
    """Search verbatim, pay for one model call, then answer."""

    async def run(task: AgentTask, tools: KnowledgeTools) -> AgentOutcome:
        result = await tools.search_kb(task.search_question, task.top_k)
        await pay(task.purse, reply, prompt_tokens=prompt, answer_tokens=answer)
        return make_outcome(ANSWER, result)

    return run


async def make_key(settings: ApiSettings, daily_tokens: int) -> dict[str, str]:
    key, record = new_key("budget", ("ask", "metrics"), (), daily_tokens=daily_tokens)
    database = Database(settings.database_url)
    await KeyStore(database).save(record)
    await database.close()
    return {"authorization": f"Bearer {key}"}


async def refused_after_one(client: httpx.AsyncClient, headers: dict[str, str]) -> httpx.Response:
    assert (await client.post("/ask", json=BODY, headers=headers)).status_code == 200
    return await client.post("/ask", json=BODY, headers=headers)


async def test_a_key_over_its_budget_is_told_until_when(
    connect: Connect, settings: ApiSettings
) -> None:
    agent = FakeAgent(pays())
    client = await connect(strong(), agent, anonymous_ask=False)
    headers = await make_key(settings, 100)
    refused = await refused_after_one(client, headers)
    body = refused.json()
    assert (refused.status_code, body["code"]) == (429, "daily_tokens_spent")
    assert "this key" in body["detail"]
    reset = datetime.fromisoformat(body["resets_at"])
    assert (reset.hour, reset.minute, reset.tzinfo) == (0, 0, UTC)
    assert 1 <= int(refused.headers["retry-after"]) <= 86_400
    other = await make_key(settings, 100)
    assert (await client.post("/ask", json=BODY, headers=other)).status_code == 200
    metrics = (await client.get("/metrics", headers=headers)).text
    assert 'vouch_token_budget_refusals_total{budget="key"} 1.0' in metrics
    assert "vouch_model_tokens_total 160.0" in metrics


async def test_once_a_budget_is_spent_nothing_of_a_question_runs(
    connect: Connect, settings: ApiSettings
) -> None:
    knowledge, agent = strong(), FakeAgent(pays())
    client = await connect(knowledge, agent, anonymous_ask=False)
    headers = await make_key(settings, 80)
    refused = await client.post("/ask", json=BODY, headers=headers)
    # The estimate of the first call does not fit.
    assert refused.status_code == 429
    agent.script = pays(prompt=40, answer=40)
    assert (await client.post("/ask", json=BODY, headers=headers)).status_code == 200
    searches, asked = len(knowledge.calls), len(agent.tasks)
    assert (await client.post("/ask", json=BODY, headers=headers)).status_code == 429
    assert (len(knowledge.calls), len(agent.tasks)) == (searches, asked)


async def test_the_budget_of_everybody_holds_at_every_door(connect: Connect) -> None:
    client = await connect(strong(), FakeAgent(pays()), daily_tokens=100)
    refused = await refused_after_one(client, {})
    assert "this installation" in refused.json()["detail"]
    chat = await client.post(
        "/v1/chat/completions",
        json={"model": "vouch", "messages": [{"role": "user", "content": QUESTION}]},
    )
    error = chat.json()["error"]
    assert (chat.status_code, error["type"], error["code"]) == (
        429, "rate_limit_error", "daily_tokens_spent",
    )  # fmt: skip
    page = await client.post("/", data={"question": QUESTION}, headers={"accept": "text/html"})
    assert (page.status_code, "budget for the language model" in page.text) == (429, True)
    stream = await client.post("/stream", data={"question": QUESTION})
    assert "budget for the language model" in stream.text


async def test_asking_without_a_model_needs_no_tokens(connect: Connect) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)), daily_tokens=1)
    assert [(await client.post("/ask", json=BODY)).status_code for _ in range(2)] == [200, 200]


async def test_a_budget_is_the_same_after_a_restart(connect: Connect) -> None:
    first = await connect(strong(), FakeAgent(pays()), daily_tokens=100)
    assert (await first.post("/ask", json=BODY)).status_code == 200
    second = await connect(strong(), FakeAgent(pays()), daily_tokens=100)
    assert (await second.post("/ask", json=BODY)).json()["code"] == "daily_tokens_spent"


async def test_askers_at_once_never_get_more_calls_than_the_budget_pays(connect: Connect) -> None:
    client = await connect(strong(), FakeAgent(pays()), daily_tokens=350)
    replies = await asyncio.gather(*(client.post("/ask", json=BODY) for _ in range(12)))
    answered = sum(one.status_code == 200 for one in replies)
    assert {one.status_code for one in replies} == {200, 429}
    assert 3 <= answered <= 4
    assert answered * 80 <= 350


def open_purse(database: Database, *, daily_tokens: int = 1000) -> tuple[Purse, SpendingStore]:
    store = SpendingStore(database)
    metrics = TokenMetrics(CollectorRegistry(), daily_tokens)
    purses = Purses(store, metrics, daily_tokens=daily_tokens, clock=lambda: NOON)
    return purses.open(Caller("key-a")), store


@pytest.fixture
async def database(settings: ApiSettings) -> AsyncIterator[Database]:
    opened = Database(settings.database_url)
    yield opened
    await opened.close()


@pytest.mark.parametrize(
    ("error", "spent"), [(ModelUnavailableError("refused"), 0), (ModelTimeoutError("late"), 60)]
)
async def test_a_call_that_failed_costs_what_the_model_has_read(
    database: Database, error: AgentError, spent: int
) -> None:
    purse, store = open_purse(database)

    async def fail() -> ChatReply:
        raise error

    with pytest.raises(type(error)):
        await pay(purse, fail, prompt_tokens=60, answer_tokens=40)
    found = (await store.on(NOON.date()))["all"]
    assert (found.spent, found.reserved) == (spent, 0)


async def test_a_call_given_up_half_way_is_settled_all_the_same(database: Database) -> None:
    purse, store = open_purse(database)
    started = asyncio.Event()

    async def hang() -> ChatReply:
        started.set()
        await asyncio.Event().wait()
        raise AssertionError("nobody sets this event")

    call = asyncio.create_task(pay(purse, hang, prompt_tokens=60, answer_tokens=40))
    await started.wait()
    assert (await store.on(NOON.date()))["all"].reserved == 100
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    found = await store.on(NOON.date())
    assert [(one.spent, one.reserved) for one in found.values()] == [(60, 0)] * 2


async def test_a_call_that_cannot_be_recorded_is_said_and_not_lost_silently(
    database: Database,
) -> None:
    purse, _ = open_purse(database, daily_tokens=0)
    async with database.write() as session:
        await (await session.connection()).execute(text("DROP TABLE token_spending"))
    assert await pay(purse, reply, prompt_tokens=1, answer_tokens=1) == REPLY
    assert purse.fallen == ("tokens_unrecorded",)


async def test_a_refusal_says_when_the_day_is_over(database: Database) -> None:
    purse, _ = open_purse(database, daily_tokens=1)
    with pytest.raises(DailyTokensSpentError) as refused:
        await purse.reserve(2)
    assert refused.value.resets_at == datetime(2026, 2, 1, tzinfo=UTC)
    assert refused.value.retry_after_seconds == 12 * 3600
