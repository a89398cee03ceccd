"""What the answering agents are told, read once at the entry point of the API process."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr

from service.errors import SettingsError
from service.settings import ServiceSettings

AgentChoice = Literal["auto", "extractive", "llm", "gateway"]


class AgentSettings(ServiceSettings):
    """Which agent answers, and within which budgets."""

    agent: AgentChoice = Field(
        default="auto",
        description="auto: the language model when a key or a base URL is set, else extractive.",
    )
    model: str = Field(
        default="gpt-4.1-mini", min_length=1, description="Model name sent to the endpoint."
    )
    openai_base_url: str = Field(
        default="",
        validation_alias="OPENAI_BASE_URL",
        description="OpenAI-compatible endpoint; empty means OpenAI's own.",
    )
    openai_api_key: SecretStr = Field(
        default=SecretStr(""),
        validation_alias="OPENAI_API_KEY",
        description="Key of the endpoint; servers without keys need none.",
    )
    agent_max_rounds: int = Field(
        default=3, ge=0, le=10, description="Model rounds that may call tools; one more answers."
    )
    agent_max_calls: int = Field(
        default=8, ge=1, le=50, description="Tool calls per ask, the runtime's first included."
    )
    agent_max_tokens: int = Field(
        default=32_000, ge=1024, description="Model tokens per ask, prompts and answers together."
    )
    agent_seconds: float = Field(
        default=45.0, gt=0, le=600, description="Seconds an agent may take for one ask."
    )
    model_context_tokens: int = Field(
        default=8192, ge=1024, description="Context window of the model; evidence is cut to fit."
    )
    model_answer_tokens: int = Field(
        default=800, ge=32, description="Longest answer of one model round, in tokens."
    )
    evidence_packing: bool = Field(
        default=True,
        description="Leave repetitions and what the model has no room for out of its evidence.",
    )
    evidence_tokens: int = Field(
        default=0,
        ge=0,
        le=200_000,
        description="Tokens of one search put before the agent; 0: what the context has room for.",
    )

    gateway_mcp_url: str = Field(
        default="http://127.0.0.1:8001/mcp",
        description="Address of the tool server as an agent gateway reaches it.",
    )
    gateway_own_token: bool = Field(
        default=False,
        description="The gateway knows VOUCH_GATEWAY_TOKEN and cannot pass a token per ask.",
    )
    sufficiency_check: bool = Field(
        default=False,
        description="Ask the model whether the evidence holds the answer; it can only refuse.",
    )

    @property
    def chosen(self) -> Literal["extractive", "llm", "gateway"]:
        """The agent that answers.

        Raises:
            SettingsError: A model is needed and no endpoint is configured.
        """
        if self.agent == "auto":
            return "llm" if self.has_model else "extractive"
        if self.agent != "extractive" and not self.has_model:
            raise SettingsError(
                f"VOUCH_AGENT={self.agent} needs OPENAI_BASE_URL or OPENAI_API_KEY;"
                " set one, or VOUCH_AGENT=extractive"
            )
        return self.agent

    @property
    def has_model(self) -> bool:
        """Whether a model endpoint is configured."""
        return bool(self.openai_base_url or self.openai_api_key.get_secret_value())
