"""A chat model as the rounds see it: messages in, text or tool calls out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from pydantic import JsonValue

from agent.contract import TokenUsage

Message: TypeAlias = dict[str, JsonValue]
ToolSpec: TypeAlias = dict[str, JsonValue]

CHARACTERS_PER_TOKEN = 3
"""A cautious estimate for English text and code; the server's own count is used afterwards."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A tool call as the model wrote it.

    Attributes:
        arguments: JSON text, unchecked.
    """

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ChatReply:
    """One round's result; a model may write text beside its calls."""

    text: str
    calls: tuple[ModelCall, ...]
    usage: TokenUsage


class ChatModel(Protocol):
    """An endpoint with a model behind it."""

    @property
    def name(self) -> str:
        """Name of the model."""
        ...

    async def complete(
        self, messages: Sequence[Message], *, tools: Sequence[ToolSpec], answer_tokens: int
    ) -> ChatReply:
        """Run one round.

        Args:
            messages: In the chat completions format.
            tools: Function tools; empty sends none at all.
            answer_tokens: Longest reply.

        Raises:
            ModelRejectedError: The request does not suit the endpoint.
            ModelUnavailableError: It cannot be reached or fails.
            ModelTimeoutError: It went over its deadline.
            ModelGarbageError: What it answers is no completion.
        """
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


def estimate_tokens(characters: int) -> int:
    """Estimate the tokens of a text by its length, rounded up."""
    return -(-characters // CHARACTERS_PER_TOKEN)
