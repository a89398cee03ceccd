"""The body of ``POST /ask`` and its answer, as they are on the wire and in the record."""

from __future__ import annotations

import unicodedata
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, StringConstraints

from knowledge.contracts import (
    Cosine,
    FilteredHit,
    IndexInfo,
    SearchHit,
    Share,
    Signals,
    Wire,
)
from knowledge.packing import StageEntry, Stretch

QUESTION_LIMIT_CHARACTERS = 2000

AbstentionReason = Literal[
    "no_hits",
    "weak_evidence",
    "agent_refused",
    "no_evidence",
    "insufficient_evidence",
    "unsupported_answer",
]
FidelityVerdict = Literal["exact", "superset", "diverged", "unknown"]
Status = Literal["answered", "abstained", "needs_clarification"]
GuardMode = Literal["fixed", "calibrated"]


def _check_characters(text: str) -> str:
    """Refuse what no one can have typed: control characters, broken surrogates, nothing visible."""
    kinds = [unicodedata.category(character) for character in text if character not in "\t\n\r"]
    if any(kind in {"Cc", "Cs"} for kind in kinds):
        raise ValueError("control characters are not allowed")
    return text


def _check_visible(text: str) -> str:
    if not any(unicodedata.category(character)[0] not in "CZ" for character in text):
        raise ValueError("at least one visible character is needed")
    return text


PlainText = Annotated[str, AfterValidator(_check_characters)]
QuestionText = Annotated[
    PlainText,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=QUESTION_LIMIT_CHARACTERS),
    AfterValidator(_check_visible),
]
SourceName = Annotated[PlainText, StringConstraints(max_length=200)]


class AskRequest(BaseModel):
    """A question. Unknown fields are refused; ``source`` null or empty means every source."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    question: QuestionText
    top_k: Annotated[int, Field(ge=1, le=50, strict=True)] = 4
    source: SourceName | None = None
    conversation_id: Annotated[
        Annotated[PlainText, StringConstraints(max_length=64)] | None,
        Field(description="Id of the first ask of a conversation, or a name of your own for it."),
    ] = None
    search_question: Annotated[
        QuestionText | None,
        Field(description="Searched for as it stands, instead of what the question comes to."),
    ] = None
    earlier: Annotated[
        tuple[QuestionText, ...],
        Field(
            max_length=20,
            description="Earlier questions, oldest first, from a caller that keeps them itself.",
        ),
    ] = ()


class Abstention(Wire):
    """Why the fixed sentence was shown."""

    reason: AbstentionReason
    detail: str = Field(description="One sentence a person understands, with the numbers.")


class SignalView(Wire):
    """One signal as the guard used it."""

    name: str
    number: float
    contribution: float | None = Field(
        default=None, description="Its part of the log-odds; null in fixed mode."
    )


class GuardView(Wire):
    """The verdict on the evidence and all it rests on."""

    mode: GuardMode
    calibrated: bool = Field(description="False: the threshold is an uncalibrated default.")
    best_cosine: Cosine | None
    threshold: float = Field(description="On the cosine in fixed mode, on probability otherwise.")
    threshold_kind: Literal["cosine", "probability"] = "cosine"
    probability: Share | None = None
    signals: Signals
    contributions: tuple[SignalView, ...] = ()
    passed: bool
    reason: str


class Span(Wire):
    """Characters [start, end) of a chunk's text."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)


class Citation(Wire):
    """One source under the answer. ``number`` is an id, the same in text and list."""

    number: int = Field(ge=1)
    chunk_id: str
    source_url: str
    title: str
    section_heading: str
    quote: str = Field(description="The words of the chunk that support the citing sentences.")
    span: Span | None = None
    support: Share = Field(description="How far the chunk supports the sentences citing it.")
    verified: bool = Field(description="Whether support reaches the documented threshold.")


class SentenceView(Wire):
    """One sentence of the answer as checked."""

    text: str
    span: Span = Field(description="Place in the answer.")
    numbers: tuple[int, ...] = ()
    support: Share | None = Field(default=None, description="Null for an uncited sentence.")
    verified: bool = False
    factual: bool = Field(
        default=True, description="False for headings, lead-ins and code, which need no citation."
    )


class RetrievedChunk(SearchHit):
    """A passage in the inspector, with what became of it."""

    read_by_agent: bool
    in_guard_search: bool
    cited: bool
    number: int | None = Field(default=None, description="Its citation id, when the agent had it.")
    injections: tuple[str, ...] = Field(
        default=(), description="Kinds of text aimed at a model that stand in the passage."
    )
    given: tuple[Stretch, ...] | None = Field(
        default=None,
        description="Characters of the text put before the agent; null: all, or never received.",
    )


class ToolCallView(Wire):
    """One tool call of the agent."""

    tool: str
    arguments: dict[str, JsonValue]
    chunk_ids: tuple[str, ...]
    milliseconds: float
    error: str = ""


class PackingView(Wire):
    """What packing made of some of the evidence before the agent got it."""

    query: str
    status: Literal["applied", "not_needed", "kept_whole", "unavailable"] = Field(
        description="kept_whole: what is quoted for the question would have changed by it."
    )
    error: str = Field(default="", description="Why it was unavailable; a code.")
    origin_tokens: int = Field(default=0, ge=0, description="Of the embedding model.")
    tokens: int = Field(default=0, ge=0, description="Put before the agent.")
    stages: tuple[StageEntry, ...] = ()
    repeats: tuple[FilteredHit, ...] = ()


class AgentView(Wire):
    """Who answered and what it did."""

    kind: Literal["extractive", "llm", "gateway"]
    model: str
    rounds: int
    tool_calls: tuple[ToolCallView, ...]
    tokens: dict[str, int]


class Fidelity(Wire):
    """The evidence the agent read against the evidence the guard judged, by chunk id."""

    verdict: FidelityVerdict
    shared: tuple[str, ...] = ()
    agent_only: tuple[str, ...] = ()
    guard_only: tuple[str, ...] = ()


class AskResponse(Wire):
    """The whole answer. Abstaining is a normal response, with status 200."""

    schema_version: Literal["1"] = Field(default="1", alias="schema", serialization_alias="schema")
    id: str
    created_at: str
    question: str
    search_question: str
    conversation_id: str | None = None
    status: Status
    abstained: bool
    answer: str
    answer_html: str = Field(default="", description="The answer, rendered and sanitised.")
    not_found: tuple[str, ...] = ()
    proposals: tuple[str, ...] = Field(
        default=(), description="Questions to choose from, when the question was asked back."
    )
    abstention: Abstention | None = None
    guard: GuardView
    citations: tuple[Citation, ...] = ()
    sentences: tuple[SentenceView, ...] = ()
    removed_markers: tuple[int, ...] = ()
    retrieved_chunks: tuple[RetrievedChunk, ...] = ()
    filtered: tuple[FilteredHit, ...] = Field(
        default=(), description="What the guard's search found and left out, with the reason."
    )
    agent: AgentView
    packing: tuple[PackingView, ...] = Field(
        default=(), description="The ledger of each packing; empty when there was none to do."
    )
    fidelity: Fidelity
    degraded: tuple[str, ...] = ()
    timings_ms: dict[str, float]
    index: IndexInfo
