from __future__ import annotations

import pytest

from agent.build import open_agent
from agent.settings import AgentSettings
from tests.agent.fakes import PORT_TEXT, FakeTools, hit, task
from tests.small_model import CONTEXT_TOKENS

SENTENCE = "I could not find this in the documentation."


@pytest.mark.model
async def test_a_real_small_model_answers_from_the_evidence_over_http(small_model_url: str) -> None:
    settings = AgentSettings.model_validate(
        {
            "openai_base_url": small_model_url,
            "model": "smollm2",
            "model_context_tokens": CONTEXT_TOKENS,
            "model_answer_tokens": 64,
            "agent_seconds": 110,
        }
    )
    tools = FakeTools((hit("port", PORT_TEXT, heading="Configuration"),))
    async with open_agent(settings, SENTENCE) as agent:
        outcome = await agent.answer(task("Which port does the page use by default?"), tools)
    assert outcome.kind == "llm"
    assert "8000" in outcome.text
    assert outcome.status == "answered"
    assert outcome.tokens.completion > 0
    assert [each.number for each in outcome.evidence] == [1]
