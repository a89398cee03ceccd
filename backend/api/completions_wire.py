"""Chat completions as other tools speak them: what is read of a request, and the reply."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from backend.contract import QUESTION_LIMIT_CHARACTERS, AbstentionReason, AskRequest, Status
from knowledge.contracts import Share

MODEL = "vouch"
_MOST_EARLIER = 20


class ContentPart(BaseModel):
    """One part of a message; parts that are not text are not read."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    type: str = "text"
    text: str = ""


class Message(BaseModel):
    """One message of a conversation."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    role: str
    content: str | tuple[ContentPart, ...] | None = None

    @property
    def text(self) -> str:
        """The message as plain text."""
        if isinstance(self.content, tuple):
            return "\n".join(part.text for part in self.content if part.type == "text").strip()
        return (self.content or "").strip()


class StreamOptions(BaseModel):
    """What is wanted of a stream."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    include_usage: bool = False


class CompletionRequest(BaseModel):
    """A conversation whose last user message is the question.

    Fields that steer a model (temperature, tools, ...) are taken and have no effect. Messages of
    the system and the assistant are not read: what was answered is no evidence.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        json_schema_extra={
            "examples": [
                {
                    "model": MODEL,
                    "messages": [{"role": "user", "content": "What does yield do?"}],
                }
            ]
        },
    )

    model: str = MODEL
    messages: Annotated[tuple[Message, ...], Field(min_length=1, max_length=200)]
    stream: bool = False
    stream_options: StreamOptions | None = None

    @model_validator(mode="after")
    def _check_question(self) -> CompletionRequest:
        try:
            self.to_ask()
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise ValueError(f"the last user message: {first['msg']}") from error
        return self

    def to_ask(self) -> AskRequest:
        """Return the question with the ones before it."""
        asked = [message.text for message in self.messages if message.role == "user"]
        earlier = [text[:QUESTION_LIMIT_CHARACTERS] for text in asked[:-1] if text]
        question = asked[-1] if asked else ""
        return AskRequest(question=question, earlier=tuple(earlier[-_MOST_EARLIER:]))


class UrlCitation(BaseModel):
    """One marker of the answer, and the passage behind it.

    Attributes:
        start_index: First character of the marker in the content.
        end_index: The character after it.
    """

    start_index: int
    end_index: int
    url: str
    title: str
    number: int
    chunk_id: str
    quote: str
    support: Share
    verified: bool


class Annotation(BaseModel):
    """A citation in the shape that clients of chat completions know."""

    type: Literal["url_citation"] = "url_citation"
    url_citation: UrlCitation


class VouchField(BaseModel):
    """What stands behind the content: the verdict, and where the whole record is."""

    ask_id: str
    status: Status
    abstained: bool
    reason: AbstentionReason | None
    detail: str
    search_question: str
    best_cosine: float | None
    threshold: float
    fidelity: str
    degraded: tuple[str, ...]
    proposals: tuple[str, ...]


class Usage(BaseModel):
    """Tokens the model used; none without a model."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ReplyMessage(BaseModel):
    """The answer as a message."""

    role: Literal["assistant"] = "assistant"
    content: str
    refusal: None = None
    annotations: tuple[Annotation, ...] = ()


class Choice(BaseModel):
    """The only choice."""

    index: Literal[0] = 0
    message: ReplyMessage
    finish_reason: Literal["stop"] = "stop"
    logprobs: None = None


class Completion(BaseModel):
    """A whole reply."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str = MODEL
    choices: tuple[Choice]
    usage: Usage
    vouch: VouchField


class Model(BaseModel):
    """The one model there is."""

    id: str = MODEL
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = "vouch"


class ModelList(BaseModel):
    """Every model there is."""

    object: Literal["list"] = "list"
    data: tuple[Model, ...] = (Model(),)
