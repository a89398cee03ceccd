"""Agent2Agent 1.0 on the wire: the messages of its JSON-RPC binding that are used here.

Names are those of the published protocol (https://a2a-protocol.org); fields it has beyond these
are taken and not read.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from pydantic.alias_generators import to_camel

from backend.contract import Abstention, AskRequest, Citation

PROTOCOL_VERSION = "1.0"

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
TASK_NOT_FOUND = -32001
PUSH_NOT_SUPPORTED = -32003
UNSUPPORTED_OPERATION = -32004
CONTENT_TYPE_NOT_SUPPORTED = -32005
VERSION_NOT_SUPPORTED = -32009


class A2aModel(BaseModel):
    """Base of the protocol's models: frozen, camel case on the wire, open to further fields."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True
    )


class Part(A2aModel):
    """One piece of a message: text, or data; of what is received only text is read."""

    text: str | None = None
    data: JsonValue | None = None
    media_type: str | None = None


class Message(A2aModel):
    """One message of either side."""

    message_id: str = Field(min_length=1, max_length=200)
    role: Literal["ROLE_USER", "ROLE_AGENT"]
    parts: tuple[Part, ...] = Field(min_length=1, max_length=64)
    context_id: str | None = None

    @property
    def text(self) -> str:
        """The words of its text parts."""
        return "\n".join(part.text for part in self.parts if part.text)


class SendMessage(A2aModel):
    """Parameters of ``SendMessage``."""

    message: Message

    def to_ask(self) -> AskRequest:
        """Return the question; the context is the conversation.

        Raises:
            ValidationError: The text cannot be a question.
        """
        return AskRequest(
            question=self.message.text, conversation_id=self.message.context_id or None
        )


class Call(A2aModel):
    """One JSON-RPC request."""

    jsonrpc: Literal["2.0"]
    method: str = Field(max_length=100)
    id: str | int | None = None
    params: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])


class Answered(BaseModel):
    """What stands beside the words of an answer, or of a refusal."""

    model_config = ConfigDict(frozen=True)

    ask_id: str
    status: Literal["answered", "abstained", "needs_clarification"]
    abstained: bool
    abstention: Abstention | None
    citations: tuple[Citation, ...]
    proposals: tuple[str, ...]
    search_question: str
    fidelity: str
    degraded: tuple[str, ...]
    record: str = Field(description="Address of the whole record.")


class Interface(A2aModel):
    """Where and how the agent is spoken to."""

    url: str
    protocol_binding: Literal["JSONRPC"] = "JSONRPC"
    protocol_version: str = PROTOCOL_VERSION


class Skill(A2aModel):
    """What the agent can do."""

    id: str
    name: str
    description: str
    tags: tuple[str, ...]
    examples: tuple[str, ...]


class Card(A2aModel):
    """The agent card."""

    name: str
    description: str
    version: str
    supported_interfaces: tuple[Interface, ...]
    capabilities: dict[str, bool]
    security_schemes: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    security_requirements: tuple[dict[str, JsonValue], ...] = ()
    default_input_modes: tuple[str, ...] = ("text/plain",)
    default_output_modes: tuple[str, ...] = ("text/markdown", "application/json")
    skills: tuple[Skill, ...]
