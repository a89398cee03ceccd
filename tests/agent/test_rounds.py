"""The language model agent against a real socket that behaves as badly as endpoints do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

import pytest

from agent.build import open_agent
from agent.contract import AgentOutcome
from agent.errors import ModelGarbageError, ModelTimeoutError, ModelUnavailableError
from agent.settings import AgentSettings
from knowledge.contracts import SearchHit
from tests import scripted_model as scripted
from tests.agent.fakes import FOR_TEXT, INIT_TEXT, PORT_TEXT, FakeTools, hit, task

SENTENCE = "I could not find this in the documentation."
HITS = (hit("port", PORT_TEXT, heading="Configuration"),)
MORE = {"init": (hit("init", INIT_TEXT), HITS[0]), "loops": (hit("for", FOR_TEXT),)}
QUESTION = "Which port does the page use?"


def settings(url: str, **changes: object) -> AgentSettings:
    chosen: dict[str, object] = {
        "agent": "llm",
        "openai_base_url": url,
        "model": "scripted",
        **changes,
    }
    return AgentSettings.model_validate(chosen)


async def ask(
    script: scripted.Script,
    *,
    hits: Sequence[SearchHit] = HITS,
    tools: FakeTools | None = None,
    **changes: object,
) -> tuple[AgentOutcome, list[scripted.ChatRequest]]:
    with scripted.serve(script) as model:
        async with open_agent(settings(model.url, **changes), SENTENCE) as agent:
            used = tools or FakeTools(hits, by_query=dict(MORE))
            outcome = await agent.answer(task(QUESTION), used)
        return outcome, model.requests


async def test_the_runtime_searches_verbatim_before_the_model_speaks() -> None:
    tools = FakeTools(HITS)
    outcome, requests = await ask(scripted.answers_from_evidence, tools=tools)
    assert tools.queries == [(QUESTION, 4, "")]
    assert outcome.status == "answered"
    assert outcome.text == "`VOUCH_PORT` sets the port of the page. [1]"
    assert requests[0].evidence[1].startswith("Guide > Configuration\n# Configuration")
    assert requests[0].tool_names == ("search_kb", "get_source", "list_sections", "get_related")
    assert outcome.rounds == 1
    assert outcome.tokens.prompt > 0


async def test_a_second_search_brings_new_numbers_and_names_the_old() -> None:
    outcome, requests = await ask(
        scripted.in_turn(scripted.call("search_kb", query="init"), scripted.say("It runs [2]."))
    )
    told = str(requests[1].messages[-1]["content"])
    assert "BEGIN EVIDENCE [2]" in told
    assert "You have already: [1]." in told
    assert [each.chunk_id for each in outcome.evidence] == ["port", "init"]
    assert [call.tool for call in outcome.tool_calls] == ["search_kb", "search_kb"]
    assert outcome.text == "It runs [2]."


async def test_a_passage_is_named_by_its_number() -> None:
    outcome, _ = await ask(
        scripted.in_turn(scripted.call("get_source", chunk_id="[1]"), scripted.say("Yes [1]."))
    )
    assert outcome.tool_calls[1].arguments == {"chunk_id": "port"}
    assert outcome.tool_calls[1].chunk_ids == ("port",)


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (scripted.call("delete_all", really=True), "unknown_tool"),
        (scripted.raw_call("search_kb", "{not json"), "invalid_arguments"),
        (scripted.raw_call("search_kb", '{"query": ""}'), "invalid_arguments"),
        (scripted.call("get_source", chunk_id="nowhere"), "unknown_chunk"),
    ],
)
async def test_a_wrong_call_is_told_to_the_model_and_recorded(
    reply: scripted.Reply, error: str
) -> None:
    outcome, requests = await ask(scripted.in_turn(reply, scripted.say("It is 8000 [1].")))
    assert outcome.status == "answered"
    assert outcome.tool_calls[1].error == error
    assert str(requests[1].messages[-1]["content"]).startswith("Error: ")


async def test_endless_calls_end_in_a_turn_without_tools_and_a_typed_refusal() -> None:
    outcome, requests = await ask(scripted.calls_endlessly, agent_max_rounds=2)
    assert [bool(request.tool_names) for request in requests] == [True, True, False]
    assert outcome.status == "refused"
    assert "budget_spent" in outcome.degraded
    assert outcome.rounds == 3
    assert all(message.get("role") != "tool" for message in requests[-1].messages)


async def test_the_last_turn_carries_all_evidence() -> None:
    outcome, requests = await ask(
        scripted.in_turn(scripted.call("search_kb", query="loops"), scripted.say("Loops [2].")),
        agent_max_rounds=1,
    )
    assert set(requests[-1].evidence) == {1, 2}
    assert outcome.text == "Loops [2]."


async def test_the_call_budget_holds_within_one_round() -> None:
    many = scripted.calls(*[("search_kb", {"query": f"q{number}"}) for number in range(5)])
    tools = FakeTools(HITS)
    await ask(scripted.in_turn(many, scripted.say("Fine [1].")), tools=tools, agent_max_calls=3)
    assert len(tools.queries) == 3


async def test_the_token_budget_ends_the_rounds() -> None:
    outcome, requests = await ask(
        scripted.calls_endlessly, agent_max_rounds=10, agent_max_calls=50, agent_max_tokens=4000
    )
    spent = outcome.tokens.prompt + outcome.tokens.completion
    assert spent <= 4000
    assert len(requests) < 10


async def test_a_model_without_tools_answers_all_the_same() -> None:
    outcome, requests = await ask(scripted.without_tools(scripted.answers_from_evidence))
    assert [bool(request.tool_names) for request in requests] == [True, False]
    assert outcome.status == "answered"
    assert outcome.degraded == ("no_tool_support",)


async def test_zero_rounds_send_no_tools() -> None:
    outcome, requests = await ask(scripted.answers_from_evidence, agent_max_rounds=0)
    assert [request.tool_names for request in requests] == [()]
    assert outcome.status == "answered"
    assert outcome.degraded == ()


@pytest.mark.parametrize(
    "text",
    [
        SENTENCE,
        f"  “{SENTENCE.upper()}”\n",
        f"<think>Hm, [1] says nothing.</think>\n{SENTENCE}",
        "I'm sorry, but I couldn't find any information about that in the passages.",
        "The provided documentation does not mention a port.",
        "",
        "<think>never came to an end",
        '<tool_call>{"name": "search_kb"}</tool_call>',
    ],
)
async def test_a_refusal_is_typed_however_it_is_worded(text: str) -> None:
    outcome, _ = await ask(scripted.always(scripted.say(text)))
    assert outcome.status == "refused"


async def test_what_was_not_found_is_named_apart_from_the_answer() -> None:
    outcome, _ = await ask(
        scripted.always(scripted.say("It is 8000 [1].\nNot found: the host address"))
    )
    assert outcome.text == "It is 8000 [1]."
    assert outcome.not_found == ("the host address",)


async def test_reasoning_is_not_part_of_the_answer() -> None:
    outcome, _ = await ask(scripted.always(scripted.say("<think>easy</think>It is 8000 [1].")))
    assert outcome.text == "It is 8000 [1]."


async def test_nothing_found_is_refused_without_asking_the_model() -> None:
    outcome, requests = await ask(scripted.lies, hits=())
    assert outcome.status == "refused"
    assert requests == []


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (scripted.html(), ModelGarbageError),
        (scripted.say("word " * 200_000), ModelGarbageError),
        (scripted.no_choices(), ModelGarbageError),
        (scripted.Reply("{broken"), ModelGarbageError),
        (scripted.Reply("[]"), ModelGarbageError),
        (scripted.cut(), ModelUnavailableError),
        (scripted.status(401, "bad key"), ModelUnavailableError),
        (scripted.status(404, "no such model"), ModelUnavailableError),
        (scripted.status(500, "out of memory"), ModelUnavailableError),
        (scripted.status(504, "upstream is slow"), ModelTimeoutError),
    ],
)
async def test_trouble_of_the_endpoint_is_a_typed_error(
    reply: scripted.Reply, error: type[Exception]
) -> None:
    with pytest.raises(error):
        await ask(scripted.always(reply))


async def test_a_model_that_hangs_is_a_timeout() -> None:
    with pytest.raises(ModelTimeoutError):
        await ask(scripted.always(scripted.hang()), agent_seconds=0.2)


async def test_an_endpoint_that_is_not_there_is_unavailable(free_port: int) -> None:
    async with open_agent(settings(f"http://127.0.0.1:{free_port}/v1"), SENTENCE) as agent:
        with pytest.raises(ModelUnavailableError):
            await agent.answer(task(QUESTION), FakeTools(HITS))


async def test_cancelling_drops_the_request_at_once() -> None:
    with scripted.serve(scripted.always(scripted.hang())) as model:
        async with open_agent(settings(model.url), SENTENCE) as agent:
            asking = asyncio.create_task(agent.answer(task(QUESTION), FakeTools(HITS)))
            assert await asyncio.to_thread(model.arrived.wait, 10)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
        assert await asyncio.to_thread(model.left.wait, 10)


async def test_newer_models_get_their_own_name_for_the_limit() -> None:
    def choose(request: scripted.ChatRequest) -> scripted.Reply:
        if "max_tokens" in request.body:
            return scripted.status(400, "Unsupported 'max_tokens'. Use 'max_completion_tokens'.")
        return scripted.answers_from_evidence(request)

    outcome, _ = await ask(choose)
    assert outcome.status == "answered"


async def test_evidence_is_cut_to_the_context_and_recorded_as_shown() -> None:
    long = hit("long", "Here is a sentence about ports. " * 400)
    outcome, requests = await ask(
        scripted.answers_from_evidence, hits=(HITS[0], long), model_context_tokens=1024
    )
    assert "evidence_trimmed" in outcome.degraded
    shown = requests[0].evidence
    assert [f"{shown[each.number]}".endswith(each.text) for each in outcome.evidence] == [
        True,
        True,
    ]
    assert outcome.evidence[0].text == PORT_TEXT
    assert len(outcome.evidence[1].text) < len(long.text)


def _raw(message: dict[str, object], usage: object) -> scripted.Reply:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    body = {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "usage": usage}
    return scripted.Reply(json.dumps({**body, "choices": [choice]}))


async def test_servers_with_shapes_of_their_own_are_understood() -> None:
    parts = [{"type": "text", "text": "It is 8000 "}, {"type": "text", "text": "[1]."}]
    function = {"name": "search_kb", "arguments": {"query": "loops"}}
    outcome, _ = await ask(
        scripted.in_turn(
            _raw({"content": None, "tool_calls": [{"function": function}]}, None),
            _raw({"content": parts}, {"prompt_tokens": None, "completion_tokens": None}),
        )
    )
    assert outcome.tool_calls[1].arguments["query"] == "loops"
    assert outcome.text == "It is 8000 [1]."
    assert outcome.tokens.prompt > 0


async def test_a_server_that_chokes_on_tool_results_gets_the_evidence_plainly() -> None:
    def choose(request: scripted.ChatRequest) -> scripted.Reply:
        if any(message.get("role") == "tool" for message in request.messages):
            return scripted.status(400, "tool messages are not supported")
        if request.tool_names:
            return scripted.call("search_kb", query="loops")
        return scripted.say("Loops [2].")

    outcome, requests = await ask(choose)
    assert outcome.text == "Loops [2]."
    assert "no_tool_support" in outcome.degraded
    assert set(requests[-1].evidence) == {1, 2}
