"""The gateway agent against a gateway that speaks MCP to the real tool server."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace

import pytest
from pydantic import SecretStr

from agent.build import build_agent, open_agent
from agent.contract import AgentOutcome, AgentTask
from agent.errors import ModelGarbageError
from agent.gateway import AMBIGUOUS
from agent.settings import AgentSettings
from service.errors import SettingsError
from tests import scripted_gateway, scripted_model
from tests.agent.fakes import FakeTools
from tests.mcp_server import serving

SENTENCE = "I could not find this in the documentation."
QUESTION = "What is the limit of passage 1?"
OWN_TOKEN = "gateway-token-for-tests"
FIRST = "00000000-0000-5000-8000-000000000001"


def settings(url: str, mcp_url: str, *, own_token: bool = False) -> AgentSettings:
    return AgentSettings.model_validate(
        {
            "agent": "gateway",
            "openai_base_url": url,
            "model": "gateway-model",
            "gateway_mcp_url": f"{mcp_url}/mcp",
            "gateway_own_token": own_token,
        }
    )


def task(ask_id: str = "ask-1", *, source: str = "") -> AgentTask:
    claims = serving.claims("agent", ask_id=ask_id, source=source)
    return AgentTask(QUESTION, QUESTION, 4, ask_id, claims)


async def ask(
    plan: scripted_gateway.Plan, *, own_token: bool = False, given: AgentTask | None = None
) -> tuple[AgentOutcome, scripted_gateway.ScriptedGateway]:
    async with serving.serve(gateway_token=SecretStr(OWN_TOKEN)) as running:
        registered = scripted_gateway.ToolServer(f"{running.url}/mcp", OWN_TOKEN)
        with scripted_gateway.serve(plan, registered=registered) as gateway:
            chosen = settings(gateway.url, running.url, own_token=own_token)
            async with (
                serving.connect(running.url) as knowledge,
                open_agent(chosen, SENTENCE, knowledge=knowledge) as agent,
            ):
                outcome = await agent.answer(given or task(), FakeTools())
            return outcome, gateway


async def test_evidence_and_calls_come_from_the_audit_of_this_asks_token() -> None:
    outcome, gateway = await ask(scripted_gateway.searches(None, then="It is 10 [{first}]."))
    assert outcome.kind == "gateway"
    assert outcome.status == "answered"
    assert outcome.text == "It is 10 [1]."
    assert [each.chunk_id for each in outcome.evidence][:1] == [FIRST]
    assert outcome.evidence[0].text.startswith("Passage 1 says")
    assert outcome.evidence[0].cosine is not None
    (call,) = outcome.tool_calls
    assert (call.tool, call.arguments["query"]) == ("search_kb", QUESTION)
    assert {row.branch for row in outcome.audit} == {"gateway"}
    assert SENTENCE in gateway.requests[0]["instructions"]
    assert gateway.requests[0]["tools"][0]["require_approval"] == "never"
    assert (outcome.tokens.prompt, outcome.tokens.completion) == (7, 3)


async def test_another_search_than_was_asked_shows_in_the_calls() -> None:
    outcome, _ = await ask(scripted_gateway.searches("something else", then="Fine [{first}]."))
    assert outcome.tool_calls[0].arguments["query"] == "something else"


async def test_an_answer_without_a_search_has_no_evidence() -> None:
    outcome, _ = await ask(scripted_gateway.never_searches)
    assert outcome.evidence == ()
    assert outcome.tool_calls == ()


async def test_plain_numbers_after_a_second_search_are_dropped() -> None:
    outcome, _ = await ask(
        scripted_gateway.searches(None, "limit", then="It is 10 [2]. It is so [{first}].")
    )
    assert outcome.text == "It is 10. It is so [1]."


async def test_calls_of_other_asks_are_not_evidence() -> None:
    async with serving.serve() as running:
        other = scripted_gateway.ToolServer(
            f"{running.url}/mcp", serving.sign(serving.claims("gateway", ask_id="ask-2"))
        )
        await asyncio.to_thread(other.call, "search_kb", query="other", top_k=4)
        with scripted_gateway.serve(scripted_gateway.never_searches) as gateway:
            async with (
                serving.connect(running.url) as knowledge,
                open_agent(
                    settings(gateway.url, running.url), SENTENCE, knowledge=knowledge
                ) as agent,
            ):
                outcome = await agent.answer(task(), FakeTools())
    assert outcome.evidence == ()


async def test_a_gateway_with_its_own_token_is_tied_by_token_and_time() -> None:
    outcome, gateway = await ask(
        scripted_gateway.searches(None, then="It is 10 [{first}]."), own_token=True
    )
    assert outcome.text == "It is 10 [1]."
    assert outcome.degraded == ()
    assert {row.caller for row in outcome.audit} == {"gateway"}
    assert SENTENCE in gateway.requests[0]["messages"][0]["content"]


@pytest.mark.parametrize(
    ("query", "source"), [("something else", ""), (None, "guide")], ids=["query", "source"]
)
async def test_calls_tied_by_time_that_are_not_the_questions_are_ambiguous(
    query: str | None, source: str
) -> None:
    outcome, _ = await ask(
        scripted_gateway.searches(query, then="Fine [{first}]."),
        own_token=True,
        given=task(source=source),
    )
    assert outcome.degraded == (AMBIGUOUS,)


async def test_a_gateway_with_its_own_token_serves_one_ask_at_a_time() -> None:
    entered = threading.Semaphore(0)
    go_on = threading.Event()
    inside: list[int] = []
    most: list[int] = []

    def plan(server: scripted_gateway.ToolServer, question: str) -> str:
        inside.append(1)
        most.append(len(inside))
        entered.release()
        assert go_on.wait(10)
        server.call("search_kb", query=question, top_k=2)
        inside.pop()
        return "Fine [1]."

    async with serving.serve(gateway_token=SecretStr(OWN_TOKEN)) as running:
        registered = scripted_gateway.ToolServer(f"{running.url}/mcp", OWN_TOKEN)
        with scripted_gateway.serve(plan, registered=registered) as gateway:
            chosen = settings(gateway.url, running.url, own_token=True)
            async with (
                serving.connect(running.url) as knowledge,
                open_agent(chosen, SENTENCE, knowledge=knowledge) as agent,
                asyncio.TaskGroup() as group,
            ):
                asks = [
                    group.create_task(agent.answer(task(f"ask-{number}"), FakeTools()))
                    for number in range(3)
                ]
                assert await asyncio.to_thread(entered.acquire, timeout=10)
                go_on.set()
    assert most == [1, 1, 1]
    assert [len(done.result().tool_calls) for done in asks] == [1, 1, 1]


async def test_a_gateway_that_answers_a_page_is_garbage() -> None:
    async with serving.serve() as running:
        with scripted_model.serve(scripted_model.always(scripted_model.html())) as endpoint:
            async with (
                serving.connect(running.url) as knowledge,
                open_agent(
                    settings(endpoint.url, running.url), SENTENCE, knowledge=knowledge
                ) as agent,
            ):
                with pytest.raises(ModelGarbageError):
                    await agent.answer(replace(task(), claims=None), FakeTools())


def test_a_gateway_without_the_knowledge_client_is_refused() -> None:
    with pytest.raises(SettingsError, match="knowledge client"):
        build_agent(settings("http://127.0.0.1:9/v1", "http://127.0.0.1:9"), SENTENCE)
