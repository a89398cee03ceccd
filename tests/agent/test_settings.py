"""From the environment to the agent it makes."""

from __future__ import annotations

import pytest

from agent.build import build_agent, limits_of
from agent.settings import AgentSettings
from service.errors import SettingsError
from tests.environment import environment

SENTENCE = "I could not find this in the documentation."


def test_without_key_and_url_the_extractive_agent_answers() -> None:
    with environment():
        assert build_agent(AgentSettings(), SENTENCE).kind == "extractive"


@pytest.mark.parametrize("name", ["OPENAI_BASE_URL", "OPENAI_API_KEY"])
async def test_a_key_or_a_url_brings_the_model(name: str) -> None:
    with environment(**{name: "http://127.0.0.1:9/v1", "VOUCH_MODEL": "my-model"}):
        agent = build_agent(AgentSettings(), SENTENCE)
    assert (agent.kind, agent.model) == ("llm", "my-model")
    await agent.close()


def test_extractive_can_be_asked_for_beside_a_key() -> None:
    with environment(OPENAI_API_KEY="k", VOUCH_AGENT="extractive"):
        assert build_agent(AgentSettings(), SENTENCE).kind == "extractive"


def test_a_model_asked_for_without_an_endpoint_is_refused() -> None:
    with environment(VOUCH_AGENT="llm"), pytest.raises(SettingsError, match="OPENAI_BASE_URL"):
        build_agent(AgentSettings(), SENTENCE)


def test_budgets_come_from_the_environment() -> None:
    with environment(
        VOUCH_AGENT_MAX_ROUNDS="1",
        VOUCH_AGENT_MAX_CALLS="2",
        VOUCH_AGENT_MAX_TOKENS="3000",
        VOUCH_AGENT_SECONDS="4.5",
    ):
        limits = limits_of(AgentSettings())
    assert (limits.rounds, limits.calls, limits.tokens, limits.seconds) == (1, 2, 3000, 4.5)


def test_the_key_is_not_in_the_settings_text() -> None:
    with environment(OPENAI_API_KEY="sk-secret"):
        assert "sk-secret" not in repr(AgentSettings())
