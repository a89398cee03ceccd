from __future__ import annotations

import pytest

from agent.budget import Budget, Limits
from agent.capture import CapturingTools
from agent.errors import CallBudgetSpentError
from knowledge.errors import KnowledgeTimeoutError
from tests.agent.fakes import FOR_TEXT, INIT_TEXT, FakeTools, hit

HITS = (hit("a", FOR_TEXT), hit("b", INIT_TEXT, cosine=0.5, rank=2))


async def test_passages_are_numbered_once_across_calls() -> None:
    tools = CapturingTools(FakeTools(HITS), Budget(Limits()))
    await tools.search_kb("loops", 1)
    await tools.search_kb("everything", 4)
    await tools.get_source("a")
    assert [(each.number, each.chunk_id) for each in tools.evidence] == [(1, "a"), (2, "b")]
    assert [call.chunk_ids for call in tools.calls] == [("a",), ("a", "b"), ("a",)]
    assert tools.number_of("b") == 2


async def test_each_call_is_timed_and_keeps_its_arguments() -> None:
    ticks = iter([1.0, 1.25])
    tools = CapturingTools(FakeTools(HITS), Budget(Limits()), clock=lambda: next(ticks))
    await tools.search_kb("loops", 2, "guide")
    (call,) = tools.calls
    assert call.arguments == {"query": "loops", "top_k": 2, "source": "guide"}
    assert call.milliseconds == pytest.approx(250)
    assert call.error == ""


async def test_a_failed_call_is_recorded_and_raised() -> None:
    tools = CapturingTools(FakeTools(error=KnowledgeTimeoutError("late")), Budget(Limits()))
    with pytest.raises(KnowledgeTimeoutError):
        await tools.search_kb("loops", 2)
    assert tools.calls[0].error == "knowledge_timeout"
    assert tools.evidence == ()


async def test_a_call_beyond_the_budget_never_reaches_the_tools() -> None:
    fake = FakeTools(HITS)
    tools = CapturingTools(fake, Budget(Limits(calls=1)))
    await tools.search_kb("loops", 2)
    with pytest.raises(CallBudgetSpentError):
        await tools.search_kb("more", 2)
    assert [query for query, _, _ in fake.queries] == ["loops"]


async def test_headings_are_no_evidence() -> None:
    tools = CapturingTools(FakeTools(HITS), Budget(Limits()))
    await tools.list_sections()
    assert tools.evidence == ()
    assert tools.calls[0].tool == "list_sections"
