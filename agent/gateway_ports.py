"""What the gateway agent needs of the outside: the gateway itself, and the tool server's audit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from agent.chat import ChatReply, Message, ToolSpec
from knowledge.contracts import AuditPage
from knowledge.tools import KnowledgeTools
from service.tokens import Claims


class GatewayKnowledge(Protocol):
    """What the knowledge client offers a gateway. Every method raises ``KnowledgeError``."""

    def sign(self, claims: Claims) -> str:
        """Return a search token of these claims."""
        ...

    def bind(self, claims: Claims, *, source: str = "", top_k: int | None = None) -> KnowledgeTools:
        """Return the four tools under these claims."""
        ...

    async def read_audit(self, ask_id: str) -> AuditPage:
        """Return every finished tool call of an ask, in order."""
        ...

    async def read_calls(self, caller: str, start: datetime, end: datetime) -> AuditPage:
        """Return the finished tool calls of a fixed token between two times, in order."""
        ...


@dataclass(frozen=True, slots=True)
class ToolServer:
    """Our tool server as a gateway reaches it.

    Attributes:
        url: Address of its ``/mcp``.
        token: Bearer token of one ask.
    """

    url: str
    token: str


class GatewayModel(Protocol):
    """The gateway's endpoint. Both methods raise ``AgentError``."""

    @property
    def name(self) -> str:
        """Name of the model."""
        ...

    async def respond(
        self, instructions: str, question: str, server: ToolServer, *, answer_tokens: int
    ) -> ChatReply:
        """Let the gateway answer with our tool server at its hands."""
        ...

    async def complete(
        self, messages: Sequence[Message], *, tools: Sequence[ToolSpec], answer_tokens: int
    ) -> ChatReply:
        """Run one chat completion."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    """How the gateway is asked.

    Attributes:
        url: Address of our tool server as the gateway reaches it.
        has_own_token: It knows one fixed token and cannot pass another; asks run one at a time.
        seconds: Deadline of one ask.
        answer_tokens: Longest answer.
    """

    url: str
    has_own_token: bool = False
    seconds: float = 45.0
    answer_tokens: int = 800
