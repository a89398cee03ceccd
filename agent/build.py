"""From settings to an agent: the composition of this package."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from agent.budget import Limits
from agent.contract import Agent
from agent.extractive import ExtractiveAgent
from agent.gateway import GatewayAgent
from agent.gateway_ports import GatewayKnowledge, GatewaySettings
from agent.llm import MODEL, LlmAgent, OpenAIModel
from agent.loop import Window
from agent.packing import Packer, PackingRules
from agent.settings import AgentSettings
from agent.sufficiency import SufficiencyChecker
from service.circuits import Circuits
from service.errors import SettingsError


def build_agent(
    settings: AgentSettings,
    abstention_sentence: str,
    *,
    knowledge: GatewayKnowledge | None = None,
    packer: Packer | None = None,
    circuits: Circuits | None = None,
) -> Agent:
    """Return the agent the settings ask for; ``open_agent`` also closes it.

    Args:
        settings: Which agent, and its budgets.
        abstention_sentence: The fixed sentence of a refusal.
        knowledge: Signs tokens and reads the audit; only a gateway needs it.
        packer: Packs evidence, when the settings want it; None packs nothing.
        circuits: Of the process; None: the endpoint has one of its own.

    Raises:
        SettingsError: A model is asked for and no endpoint is configured, or a gateway without
            the knowledge client.
    """
    if settings.chosen == "extractive":
        return ExtractiveAgent(abstention_sentence, packing=packing_of(settings, packer))
    if settings.chosen == "gateway":
        if knowledge is None:
            raise SettingsError("the gateway agent needs the knowledge client")
        return GatewayAgent(
            open_model(settings, circuits),
            knowledge,
            GatewaySettings(
                url=settings.gateway_mcp_url,
                has_own_token=settings.gateway_own_token,
                seconds=settings.agent_seconds,
                answer_tokens=settings.model_answer_tokens,
            ),
            abstention_sentence=abstention_sentence,
        )
    return LlmAgent(
        open_model(settings, circuits),
        abstention_sentence=abstention_sentence,
        limits=limits_of(settings),
        window=window_of(settings),
        packing=packing_of(settings, packer),
    )


@asynccontextmanager
async def open_agent(
    settings: AgentSettings,
    abstention_sentence: str,
    *,
    knowledge: GatewayKnowledge | None = None,
    packer: Packer | None = None,
    circuits: Circuits | None = None,
) -> AsyncGenerator[Agent]:
    """Build the agent, and close its connections at the end; arguments as ``build_agent``."""
    agent = build_agent(
        settings, abstention_sentence, knowledge=knowledge, packer=packer, circuits=circuits
    )
    try:
        yield agent
    finally:
        await agent.close()


@asynccontextmanager
async def open_sufficiency(
    settings: AgentSettings, *, circuits: Circuits | None = None
) -> AsyncGenerator[SufficiencyChecker | None]:
    """Yield the sufficiency check, or None when it is off or there is no model to ask."""
    if not settings.sufficiency_check or not settings.has_model:
        yield None
        return
    checker = SufficiencyChecker(
        open_model(settings, circuits), window=window_of(settings), seconds=settings.agent_seconds
    )
    try:
        yield checker
    finally:
        await checker.close()


def open_model(settings: AgentSettings, circuits: Circuits | None = None) -> OpenAIModel:
    """Return the configured endpoint; whoever opens it closes it."""
    return OpenAIModel(
        base_url=settings.openai_base_url,
        api_key=settings.openai_api_key.get_secret_value(),
        name=settings.model,
        seconds=settings.agent_seconds,
        circuit=circuits.of(MODEL) if circuits else None,
    )


def limits_of(settings: AgentSettings) -> Limits:
    """Return the budgets of one ask."""
    return Limits(
        rounds=settings.agent_max_rounds,
        calls=settings.agent_max_calls,
        tokens=settings.agent_max_tokens,
        seconds=settings.agent_seconds,
    )


def window_of(settings: AgentSettings) -> Window:
    """Return what one request to the model may hold."""
    return Window(settings.model_context_tokens, settings.model_answer_tokens)


def packing_of(settings: AgentSettings, packer: Packer | None) -> PackingRules | None:
    """Return how evidence is packed; None when it is not."""
    if packer is None or not settings.evidence_packing:
        return None
    return PackingRules(packer, settings.evidence_tokens)
