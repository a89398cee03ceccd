"""What every answering agent takes and returns.

An agent is given the four tools and a task. It returns what it wrote together with all evidence it
received and every call it made; the caller never has to trust the agent's own account of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from pydantic import JsonValue

from agent.purse import OPEN_PURSE, TokenPurse
from knowledge.contracts import AuditRow
from knowledge.packing import FittedPassages
from knowledge.tools import KnowledgeTools
from service.tokens import Claims

Span: TypeAlias = tuple[int, int]
AgentKind = Literal["extractive", "llm", "gateway"]
PackingStatus = Literal["applied", "not_needed", "kept_whole", "unavailable"]


@dataclass(frozen=True, slots=True)
class AgentTask:
    """One question for an agent.

    Attributes:
        question: What the person typed.
        search_question: The standalone form, searched verbatim first.
        top_k: Passages per search, 1 to 50.
        ask_id: Identifies the ask in logs and tokens.
        claims: What the asker may see; a gateway's token is signed from them. None: no limits
            beyond the ask itself.
        purse: Pays for the model calls.
    """

    question: str
    search_question: str
    top_k: int
    ask_id: str
    claims: Claims | None = None
    purse: TokenPurse = OPEN_PURSE


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage as the agent received it.

    Attributes:
        number: The id it is cited by, from 1, never reused within an ask.
        text: The text put before the agent, exactly; empty when nothing of it was.
        cosine: Against the query of the call that brought it; None when the tool gives none.
        tool: Name of the tool that brought it first.
        stored: The whole passage, when the agent was given less; None: the text is all of it.
        kept: Characters [start, end) of the whole passage that the agent was given; None: all.
    """

    number: int
    chunk_id: str
    text: str
    source: str
    source_url: str
    title: str
    section_heading: str
    parent_heading: str
    position: int
    metadata: dict[str, JsonValue]
    cosine: float | None
    tool: str
    stored: str | None = None
    kept: tuple[Span, ...] | None = None

    @property
    def whole(self) -> str:
        """The passage as it is stored."""
        return self.text if self.stored is None else self.stored


@dataclass(frozen=True, slots=True)
class Packing:
    """What packing made of some passages before the agent got them.

    Attributes:
        query: What the passages were to answer.
        status: ``applied``; ``not_needed``: there was nothing to leave out; ``kept_whole``: what
            would be quoted from them would have changed; ``unavailable``: it could not be done.
        fitted: What it came to, applied or not; None when it could not be done.
        error: Code of the failure; empty without one.
    """

    query: str
    status: PackingStatus
    fitted: FittedPassages | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call an agent made, as the runtime saw it.

    Attributes:
        chunk_ids: Chunks in the result, in order.
        milliseconds: Duration seen by the caller.
        error: Code of the failure; empty on success.
    """

    tool: str
    arguments: dict[str, JsonValue]
    chunk_ids: tuple[str, ...]
    milliseconds: float
    error: str = ""


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Model tokens spent, as the model server counted them; zero without a model."""

    prompt: int = 0
    completion: int = 0


@dataclass(frozen=True, slots=True)
class AgentOutcome:
    """What an agent came back with.

    Attributes:
        status: ``refused`` is the typed refusal; the text is then only kept for the record.
        text: Raw text, citing evidence as ``[n]``.
        evidence: Every passage received, in the order of their numbers.
        not_found: Parts of the question the agent says it could not find.
        degraded: Names of what fell back (``no_tool_support``, ``budget_spent``).
        rounds: Model rounds used; zero without a model.
        prompt: The messages as sent, for the record; empty without a model.
        audit: Rows of the tool server that the evidence was taken from, when the agent could not
            capture it itself.
        packing: What was left out of the evidence before the agent got it, packing by packing.
    """

    kind: AgentKind
    model: str
    status: Literal["answered", "refused"]
    text: str
    evidence: tuple[Evidence, ...]
    tool_calls: tuple[ToolCall, ...]
    rounds: int = 0
    tokens: TokenUsage = field(default_factory=TokenUsage)
    not_found: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    prompt: tuple[dict[str, JsonValue], ...] = ()
    audit: tuple[AuditRow, ...] = ()
    packing: tuple[Packing, ...] = ()


class Agent(Protocol):
    """Answers one task with the tools it is given."""

    @property
    def kind(self) -> AgentKind:
        """Which agent this is."""
        ...

    @property
    def model(self) -> str:
        """Name of the model, or of the method when there is none."""
        ...

    async def answer(self, task: AgentTask, tools: KnowledgeTools) -> AgentOutcome:
        """Answer or refuse.

        Raises:
            AgentError: The model is down, over time or speaks garbage.
            KnowledgeError: The evidence cannot be reached.
        """
        ...

    async def close(self) -> None:
        """Release what the agent holds open; it is not used afterwards."""
        ...
