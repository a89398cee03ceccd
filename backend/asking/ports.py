"""What the API needs of the outside, by shape: evidence, and a settled question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pydantic import JsonValue

from agent.purse import TokenPurse
from agent.sufficiency import Sufficiency
from backend.caller import Caller
from backend.contract import AskRequest
from knowledge.contracts import (
    AuditPage,
    ContentChange,
    Embeddings,
    IndexInfo,
    Measurement,
    SearchTrace,
)
from knowledge.tools import KnowledgeTools
from service.tokens import Claims


class Knowledge(Protocol):
    """The tool server. Every method raises ``KnowledgeError`` and its subclasses."""

    def bind(self, claims: Claims, *, source: str = "", top_k: int | None = None) -> KnowledgeTools:
        """Return the four tools for one branch of one ask."""
        ...

    async def search(
        self, query: str, claims: Claims, *, top_k: int, source: str = ""
    ) -> SearchTrace:
        """Call ``search_kb`` as the guard does; return the order after every stage as well."""
        ...

    async def read_audit(self, ask_id: str) -> AuditPage:
        """Return every tool call of an ask, with the signed claims of its caller."""
        ...

    async def forget(self, ask_ids: Sequence[str], caller: str = "") -> None:
        """Delete the recorded tool calls of asks, and of one caller when it is named."""
        ...

    async def measure(self, query: str, chunk_ids: Sequence[str], claims: Claims) -> Measurement:
        """Return the cosine of each chunk against a query."""
        ...

    async def compare(self, sketch: Sequence[int]) -> ContentChange:
        """Return how far the build in force is from the content of another."""
        ...

    async def trace(
        self,
        query: str,
        claims: Claims,
        *,
        top_k: int = 4,
        profile: str = "",
        filters: Mapping[str, JsonValue] | None = None,
        explain: str = "",
    ) -> SearchTrace:
        """Search like ``search_kb``; return the order after every stage, and explain a chunk."""
        ...

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return unit vectors of texts by the index's own model."""
        ...

    async def ping(self) -> None:
        """Return when the tool server answers."""
        ...


@dataclass(frozen=True, slots=True)
class SettledQuestion:
    """What is searched for.

    Attributes:
        search_question: Standalone form of the question.
        parts: Its parts, each searched and judged on its own; one part for a simple question.
        is_vague: Whether it names no subject: it is asked back, not answered.
    """

    search_question: str
    parts: tuple[str, ...]
    is_vague: bool = False


class QuestionSettler(Protocol):
    """Turns what a person typed into what is searched for."""

    async def settle(self, request: AskRequest, caller: Caller) -> SettledQuestion:
        """Return the standalone question and its parts."""
        ...


class SufficiencyCheck(Protocol):
    """A third look at the evidence by a model; it can refuse and never allow."""

    async def check(
        self, question: str, passages: Sequence[str], *, purse: TokenPurse
    ) -> Sufficiency:
        """Say whether the passages hold the answer.

        Raises:
            AgentError: The model is down, over time or speaks garbage.
        """
        ...


class IndexSource(Protocol):
    """Knows which index is in force."""

    async def current(self) -> IndexInfo:
        """Return the index in force."""
        ...

    def forget(self) -> None:
        """Look again at the next question."""
        ...
