"""Agents that finish unseen after a refusal."""

from __future__ import annotations

import uuid

import pytest

from agent.errors import ModelUnavailableError
from backend.asking.shadow import falls_into
from backend.caller import ANONYMOUS
from backend.contract import AskRequest
from tests.backend.conftest import Compose
from tests.backend.fakes import FakeAgent, Script, fails, says
from tests.backend.test_ask import ANSWER, QUESTION, strong, weak


@pytest.mark.parametrize(
    ("script", "result"),
    [
        (says(ANSWER), "verified"),
        (says("Bananas ripen faster in paper bags."), "unverified"),
        (says("", refused=True), "refused"),
        (fails(ModelUnavailableError("down")), "failed"),
    ],
)
async def test_what_the_agent_would_have_said_is_kept_and_never_shown(
    make_services: Compose, script: Script, result: str
) -> None:
    services = await make_services(weak(), FakeAgent(script), shadow_share=1.0)
    response = await services.asker.answer(AskRequest(question=QUESTION), ANONYMOUS)
    assert response.abstained
    assert "text of c1" not in response.answer
    await services.shadow.settle()
    record = await services.recorder.find(response.id, ANONYMOUS)
    assert record.shadow["result"] == result


async def test_nothing_is_looked_into_without_a_share_or_a_refusal(make_services: Compose) -> None:
    agent = FakeAgent(says(ANSWER))
    services = await make_services(weak(), agent, ask_mode="guard_first")
    await services.asker.answer(AskRequest(question=QUESTION), ANONYMOUS)
    await services.shadow.settle()
    assert agent.tasks == []
    services = await make_services(strong(), agent, shadow_share=1.0)
    await services.asker.answer(AskRequest(question=QUESTION), ANONYMOUS)
    await services.shadow.settle()
    assert len(agent.tasks) == 1


def test_a_share_of_all_asks_falls_into_it() -> None:
    asks = [str(uuid.UUID(int=number * (2**128 // 1000))) for number in range(1000)]
    assert sum(falls_into(ask_id, 0.25) for ask_id in asks) == 250
    assert not any(falls_into(ask_id, 0.0) for ask_id in asks)
    assert all(falls_into(ask_id, 1.0) for ask_id in asks)
