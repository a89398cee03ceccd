"""The configured language model as one more agent of an evaluation, and as its judge."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from agent.build import open_agent, open_model
from agent.contract import Agent
from agent.settings import AgentSettings
from backend.settings import DEFAULT_ABSTENTION_SENTENCE
from evals.answer_judge import Judge, ModelJudge


@dataclass(frozen=True, slots=True)
class ConfiguredModel:
    """An open model.

    Attributes:
        agents: The agent that answers with it, by the model's name.
        judge: The same model as a judge of answers.
    """

    agents: dict[str, Agent]
    judge: Judge


@asynccontextmanager
async def open_configured_model(settings: AgentSettings) -> AsyncGenerator[ConfiguredModel]:
    """Open the model of these settings, with the budgets it answers questions under.

    Raises:
        SettingsError: No endpoint is configured.
    """
    answering = settings.model_copy(update={"agent": "llm"})
    async with open_agent(answering, DEFAULT_ABSTENTION_SENTENCE) as agent:
        model = open_model(settings)
        try:
            yield ConfiguredModel({settings.model: agent}, ModelJudge(model))
        finally:
            await model.close()
