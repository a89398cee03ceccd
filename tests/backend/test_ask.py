"""The stages of an ask: two branches, one verdict, a record before the answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from prometheus_client import CollectorRegistry

from agent.contract import AgentOutcome, AgentTask
from agent.errors import ModelTimeoutError, ModelUnavailableError
from backend.asking.admission import Admission
from backend.asking.ask import Asker
from backend.asking.branches import Emit
from backend.caller import ANONYMOUS, Caller
from backend.contract import AskRequest, AskResponse
from backend.errors import AskTimeoutError, OverloadedError
from backend.events import (
    AnswerDrafted,
    Condensed,
    Done,
    EvidenceFound,
    StageEvent,
    VerdictReached,
)
from backend.metrics import AskMetrics
from backend.settings import DEFAULT_ABSTENTION_SENTENCE
from knowledge.contracts import StageOrder
from knowledge.errors import BuildGoneError, KnowledgeUnavailableError
from knowledge.tools import KnowledgeTools
from service.errors import VouchError
from tests.backend.conftest import Compose
from tests.backend.factories import (
    INDEX,
    make_evidence,
    make_hit,
    make_outcome,
    make_result,
)
from tests.backend.fakes import FakeAgent, FakeKnowledge, fails, hangs, knows, says

QUESTION = "What is the text of c1?"
ANSWER = "The text of c1 [1]."
WEAK = 0.2


def strong() -> FakeKnowledge:
    return knows({QUESTION: make_result("c1", "c2", query=QUESTION)})


def weak() -> FakeKnowledge:
    return knows({QUESTION: make_result("c1", query=QUESTION, best_cosine=WEAK)})


def ask(question: str = QUESTION, top_k: int = 4, source: str | None = None) -> AskRequest:
    return AskRequest(question=question, top_k=top_k, source=source)


async def collect(events: AsyncIterator[StageEvent]) -> list[StageEvent]:
    return [event async for event in events]


async def test_the_stages_come_in_order_and_end_with_the_response(make_services: Compose) -> None:
    services = await make_services(strong(), FakeAgent(says(ANSWER)))
    events = await collect(services.asker.ask(ask(), ANONYMOUS))
    assert [type(event) for event in events] == [
        Condensed,
        EvidenceFound,
        VerdictReached,
        AnswerDrafted,
        Done,
    ]
    done = events[-1]
    assert isinstance(done, Done)
    assert done.response.status == "answered"
    assert done.response.answer == ANSWER
    assert [citation.number for citation in done.response.citations] == [1]
    assert done.response.fidelity.verdict == "exact"


async def test_both_branches_search_the_same_text_build_source_and_count(
    make_services: Compose,
) -> None:
    knowledge = strong()
    services = await make_services(knowledge, FakeAgent(says(ANSWER)))
    caller = Caller(name="me", labels=("staff",))
    response = await services.asker.answer(ask(top_k=3, source="docs"), caller)
    made = {claims.branch: (claims, *rest) for claims, *rest in knowledge.calls}
    assert made["agent"][1:] == made["guard"][1:] == (QUESTION, "docs", 3)
    for claims in (made["agent"][0], made["guard"][0]):
        assert (claims.ask_id, claims.build, claims.labels) == (response.id, "b1", ("staff",))


async def test_the_two_branches_run_at_the_same_time(make_services: Compose) -> None:
    knowledge = strong()
    agent = FakeAgent(says(ANSWER))
    knowledge.gates["guard"] = agent.started
    services = await make_services(knowledge, agent)
    # The guard's search waits for the agent: this ends only when neither waits for the other.
    assert (await services.asker.answer(ask(), ANONYMOUS)).status == "answered"


async def test_weak_evidence_cancels_the_agent_and_refuses(make_services: Compose) -> None:
    agent = FakeAgent(hangs())
    knowledge = weak()
    knowledge.gates["guard"] = agent.started
    services = await make_services(knowledge, agent)
    response = await services.asker.answer(ask(), ANONYMOUS)
    assert agent.cancelled.is_set()
    assert response.abstention is not None
    assert response.abstention.reason == "weak_evidence"
    assert response.answer == DEFAULT_ABSTENTION_SENTENCE
    assert response.citations == ()
    assert "http" not in response.answer_html
    assert [chunk.chunk_id for chunk in response.retrieved_chunks] == ["c1"]
    assert not any(chunk.cited or chunk.number for chunk in response.retrieved_chunks)


async def test_a_confident_agent_is_overridden_by_weak_evidence(make_services: Compose) -> None:
    services = await make_services(weak(), FakeAgent(says("Of course it is so [1].")))
    response = await services.asker.answer(ask(), ANONYMOUS)
    assert (response.abstained, response.answer) == (True, DEFAULT_ABSTENTION_SENTENCE)


async def test_a_refusal_of_the_guard_wins_over_a_failing_model(make_services: Compose) -> None:
    services = await make_services(weak(), FakeAgent(fails(ModelUnavailableError("down"))))
    assert (await services.asker.answer(ask(), ANONYMOUS)).abstained


async def test_nothing_found_is_a_refusal(make_services: Compose) -> None:
    services = await make_services(knows({}), FakeAgent(says("Something.")))
    response = await services.asker.answer(ask(), ANONYMOUS)
    assert response.abstention is not None
    assert response.abstention.reason == "no_hits"
    assert response.abstention.detail == "The search found no passage at all."


async def test_an_empty_source_is_named_in_the_refusal(make_services: Compose) -> None:
    services = await make_services(knows({}), FakeAgent(says("Something.")))
    response = await services.asker.answer(ask(source="hand-book"), ANONYMOUS)
    assert response.abstention is not None
    assert response.abstention.detail == "There is no passage at all in the source 'hand-book'."


@pytest.mark.parametrize(
    "text", [DEFAULT_ABSTENTION_SENTENCE, f"  {DEFAULT_ABSTENTION_SENTENCE} [1]"]
)
async def test_the_fixed_sentence_in_the_text_is_a_refusal(
    make_services: Compose, text: str
) -> None:
    services = await make_services(strong(), FakeAgent(says(text)))
    response = await services.asker.answer(ask(), ANONYMOUS)
    assert response.abstention is not None
    assert response.abstention.reason == "agent_refused"
    assert response.citations == ()


async def test_a_typed_refusal_needs_no_phrase(make_services: Compose) -> None:
    services = await make_services(strong(), FakeAgent(says(ANSWER, refused=True)))
    response = await services.asker.answer(ask(), ANONYMOUS)
    assert response.abstention is not None
    assert response.abstention.reason == "agent_refused"


async def test_an_answer_without_any_search_is_refused(make_services: Compose) -> None:
    async def never_searches(task: AgentTask, tools: KnowledgeTools) -> AgentOutcome:
        return AgentOutcome("llm", "fake", "answered", ANSWER, (), ())

    services = await make_services(strong(), FakeAgent(never_searches))
    response = await services.asker.answer(ask(), ANONYMOUS)
    assert response.abstention is not None
    assert response.abstention.reason == "no_evidence"


async def test_an_answer_nothing_supports_is_refused(make_services: Compose) -> None:
    services = await make_services(strong(), FakeAgent(says("Bananas ripen faster in paper bags.")))
    response = await services.asker.answer(ask(), ANONYMOUS)
    assert response.abstention is not None
    assert response.abstention.reason == "unsupported_answer"


async def test_markers_outside_the_evidence_are_removed_and_counted(make_services: Compose) -> None:
    services = await make_services(strong(), FakeAgent(says("The text of c1 [1][7].")))
    response = await services.asker.answer(ask(), ANONYMOUS)
    assert response.removed_markers == (7,)
    assert response.answer == ANSWER
    received = {chunk.number for chunk in response.retrieved_chunks if chunk.read_by_agent}
    assert {citation.number for citation in response.citations} <= received


async def test_passages_only_the_agent_read_are_listed_with_their_cosine(
    make_services: Compose,
) -> None:
    async def reads_more(task: AgentTask, tools: KnowledgeTools) -> AgentOutcome:
        result = await tools.search_kb(task.search_question, task.top_k)
        await tools.get_source("c9")
        more = make_evidence(3, make_hit("c9"), tool="get_source")
        return make_outcome("The text of c9 [3].", result, more=(more,))

    knowledge = strong()
    knowledge.cosines["c9"] = 0.33
    services = await make_services(knowledge, FakeAgent(reads_more))
    response = await services.asker.answer(ask(), ANONYMOUS)
    last = response.retrieved_chunks[-1]
    assert (last.chunk_id, last.cosine, last.fused_rank) == ("c9", 0.33, 3)
    assert (last.read_by_agent, last.in_guard_search, last.cited) == (True, False, True)
    assert response.fidelity.verdict == "superset"


async def test_an_agent_that_searched_for_something_else_has_diverged(
    make_services: Compose,
) -> None:
    async def strays(task: AgentTask, tools: KnowledgeTools) -> AgentOutcome:
        result = await tools.search_kb("something else", task.top_k)
        return make_outcome("The text of x1 [1].", result)

    knowledge = strong()
    knowledge.results["something else"] = make_result("x1", query="something else")
    knowledge.cosines["x1"] = 0.1
    services = await make_services(knowledge, FakeAgent(strays))
    fidelity = (await services.asker.answer(ask(), ANONYMOUS)).fidelity
    assert (fidelity.verdict, fidelity.agent_only, fidelity.guard_only) == (
        "diverged",
        ("x1",),
        ("c1", "c2"),
    )


async def test_an_unreadable_audit_is_said_and_proves_nothing(make_services: Compose) -> None:
    knowledge = strong()
    knowledge.audit_failure = KnowledgeUnavailableError("down")
    services = await make_services(knowledge, FakeAgent(says(ANSWER)))
    response = await services.asker.answer(ask(), ANONYMOUS)
    assert response.fidelity.verdict == "unknown"
    assert "audit_unavailable" in response.degraded


async def test_without_the_guards_search_there_is_no_answer(make_services: Compose) -> None:
    knowledge = strong()
    knowledge.failures["guard"] = [KnowledgeUnavailableError("down")]
    agent = FakeAgent(hangs())
    knowledge.gates["guard"] = agent.started
    services = await make_services(knowledge, agent)
    with pytest.raises(KnowledgeUnavailableError):
        await services.asker.answer(ask(), ANONYMOUS)
    assert agent.cancelled.is_set()


async def test_a_model_that_fails_on_strong_evidence_is_its_error(make_services: Compose) -> None:
    services = await make_services(strong(), FakeAgent(fails(ModelTimeoutError("slow"))))
    with pytest.raises(ModelTimeoutError):
        await services.asker.answer(ask(), ANONYMOUS)


@pytest.mark.parametrize("branch", ["guard", "agent"])
async def test_a_build_that_is_gone_is_asked_for_once_more(
    make_services: Compose, branch: str
) -> None:
    knowledge = strong()
    knowledge.failures[branch] = [BuildGoneError("gone")]
    services = await make_services(knowledge, FakeAgent(says(ANSWER)))
    assert (await services.asker.answer(ask(), ANONYMOUS)).status == "answered"
    knowledge.failures[branch] = [BuildGoneError("gone"), BuildGoneError("gone")]
    with pytest.raises(BuildGoneError):
        await services.asker.answer(ask(), ANONYMOUS)


async def test_a_new_build_is_used_from_the_next_ask_on(make_services: Compose) -> None:
    knowledge = strong()
    services = await make_services(knowledge, FakeAgent(says(ANSWER)))
    await services.asker.answer(ask(), ANONYMOUS)
    knowledge.index = INDEX.model_copy(update={"build": "b2"})
    await services.asker.answer(ask(), ANONYMOUS)
    assert [claims.build for claims, *_ in knowledge.calls] == ["b1", "b1", "b2", "b2"]


async def test_the_total_deadline_is_an_error_of_its_own(make_services: Compose) -> None:
    services = await make_services(strong(), FakeAgent(hangs()), request_timeout_seconds=0.05)
    with pytest.raises(AskTimeoutError):
        await services.asker.answer(ask(), ANONYMOUS)


async def test_beyond_the_places_and_the_queue_callers_are_turned_away(
    make_services: Compose,
) -> None:
    release = asyncio.Event()
    knowledge = strong()
    knowledge.gates["guard"] = release
    agent = FakeAgent(says(ANSWER))
    services = await make_services(knowledge, agent, max_running_asks=1, max_waiting_asks=1)
    first = asyncio.create_task(services.asker.answer(ask(), ANONYMOUS))
    await agent.started.wait()
    second = services.asker.ask(ask(), ANONYMOUS)
    waiting = asyncio.ensure_future(anext(second))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    with pytest.raises(OverloadedError) as refusal:
        await services.asker.answer(ask(), ANONYMOUS)
    assert refusal.value.retry_after_seconds > 0
    release.set()
    assert (await first).status == "answered"
    assert isinstance(await waiting, Condensed)
    assert isinstance((await collect(second))[-1], Done)


async def test_waiting_too_long_for_a_place_is_overload_and_not_a_timeout() -> None:
    class Never:
        async def run(
            self, request: AskRequest, caller: Caller, emit: Emit, *, ask_id: str | None = None
        ) -> AskResponse:
            raise AssertionError("there is no place for this ask")

    admission = Admission(running=1, waiting=1)
    metrics = AskMetrics(CollectorRegistry())
    asker = Asker(Never(), admission=admission, metrics=metrics, timeout_seconds=0.05)
    async with admission.place():
        with pytest.raises(OverloadedError):
            await asker.answer(ask(), ANONYMOUS)
    assert (admission.running, admission.waiting) == (0, 0)


async def test_a_place_is_waited_for_no_longer_than_was_said() -> None:
    admission = Admission(running=1, waiting=1)
    async with admission.place():
        with pytest.raises(OverloadedError):
            async with admission.place(within_seconds=0.01):
                raise AssertionError("there is no place")
    assert (admission.running, admission.waiting) == (0, 0)
    async with admission.place(within_seconds=0.01):
        assert admission.running == 1


async def test_leaving_the_stream_cancels_the_ask(make_services: Compose) -> None:
    agent = FakeAgent(hangs())
    services = await make_services(strong(), agent)
    events = services.asker.ask(ask(), ANONYMOUS)
    await anext(events)
    await agent.started.wait()
    await events.aclose()
    assert agent.cancelled.is_set()


async def test_guard_first_makes_no_model_call_on_weak_evidence(make_services: Compose) -> None:
    agent = FakeAgent(says(ANSWER))
    services = await make_services(weak(), agent, ask_mode="guard_first")
    assert (await services.asker.answer(ask(), ANONYMOUS)).abstained
    assert agent.tasks == []
    services = await make_services(strong(), agent, ask_mode="guard_first")
    assert (await services.asker.answer(ask(), ANONYMOUS)).status == "answered"


async def test_a_threshold_set_by_hand_reaches_the_verdict(make_services: Compose) -> None:
    services = await make_services(
        strong(), FakeAgent(says(ANSWER)), abstention_score_threshold=0.81
    )
    response = await services.asker.answer(ask(), ANONYMOUS)
    assert response.abstained
    assert response.guard.threshold == 0.81
    services = await make_services(weak(), FakeAgent(says(ANSWER)), abstention_score_threshold=WEAK)
    assert (await services.asker.answer(ask(), ANONYMOUS)).status == "answered"


async def test_a_source_filter_never_switches_the_threshold_off(make_services: Compose) -> None:
    services = await make_services(weak(), FakeAgent(says(ANSWER)))
    assert (await services.asker.answer(ask(source="docs"), ANONYMOUS)).abstained


async def test_nothing_of_an_answer_is_in_a_stage_before_the_last(make_services: Compose) -> None:
    secret = "The text of c1 is a SECRETWORD [1]."
    services = await make_services(strong(), FakeAgent(says(secret)))
    events = await collect(services.asker.ask(ask(), ANONYMOUS))
    assert all("SECRETWORD" not in repr(event) for event in events[:-1])


async def test_the_record_holds_everything_and_gives_the_response_back(
    make_services: Compose,
) -> None:
    services = await make_services(strong(), FakeAgent(says("The text of c1 [1][7].")))
    response = await services.asker.answer(ask(), ANONYMOUS)
    record = await services.recorder.find(response.id, ANONYMOUS)
    assert AskResponse.model_validate(record.response) == response
    assert record.raw_text == "The text of c1 [1][7]."
    assert record.answer == ANSWER
    assert [item["chunk_id"] for item in record.evidence] == ["c1", "c2"]
    assert sorted(str(row["branch"]) for row in record.audit) == ["agent", "guard"]
    assert record.searches[0]["text"] == QUESTION
    assert record.searches[0]["stages"] == {
        "dense": ["c1", "c2"],
        "sparse": ["c1", "c2", "x1"],
        "parts": [],
        "part_cosines": {},
        "fused": ["c1", "c2", "x1"],
        "reranked": [],
        "selected": ["c1", "c2"],
        "cut_at": None,
    }
    assert record.versions.keys() >= {"vouch", "calibration"}


async def test_the_record_of_a_refusal_holds_the_candidates_too(make_services: Compose) -> None:
    services = await make_services(weak(), FakeAgent(says(ANSWER)))
    response = await services.asker.answer(ask(), ANONYMOUS)
    assert response.abstained
    (search,) = (await services.recorder.find(response.id, ANONYMOUS)).searches
    assert StageOrder.model_validate(search["stages"]).fused[-1] == "x1"


async def test_a_record_under_labels_is_unknown_to_others(make_services: Compose) -> None:
    services = await make_services(strong(), FakeAgent(says(ANSWER)))
    response = await services.asker.answer(ask(), Caller(name="me", labels=("staff",)))
    with pytest.raises(VouchError, match="no such record"):
        await services.recorder.find(response.id, ANONYMOUS)


async def test_a_refused_turn_is_not_answered_from_the_conversation(
    make_services: Compose,
) -> None:
    knowledge = strong()
    services = await make_services(knowledge, FakeAgent(says(ANSWER)))
    first = AskRequest(question=QUESTION, conversation_id="talk")
    assert (await services.asker.answer(first, ANONYMOUS)).status == "answered"
    knowledge.results[QUESTION] = make_result("c1", query=QUESTION, best_cosine=WEAK)
    again = await services.asker.answer(first, ANONYMOUS)
    assert (again.abstained, again.answer) == (True, DEFAULT_ABSTENTION_SENTENCE)
