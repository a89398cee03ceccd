"""Hand-written stand-ins for the tool server and the agent, driven by events and not by time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from agent.contract import AgentKind, AgentOutcome, AgentTask
from knowledge.contracts import (
    AuditPage,
    AuditRow,
    ContentChange,
    Embeddings,
    Explanation,
    IndexInfo,
    Measurement,
    SearchResult,
    SearchTrace,
    SectionPage,
    Source,
    StageOrder,
)
from knowledge.errors import KnowledgeError, ToolRefusedError
from knowledge.tools import KnowledgeTools
from service.tokens import Claims
from tests.backend.factories import INDEX, make_outcome, make_result


@dataclass
class FakeKnowledge:
    """A tool server that knows a few searches and writes its own audit.

    Attributes:
        results: Search result by query; any other query finds nothing.
        failures: Errors to raise, by branch; one is taken for each search.
        gates: Searches of a branch wait for its event.
        cosines: What ``measure`` gives.
        traced: Hits wanted and filters of each traced search.
    """

    results: dict[str, SearchResult] = field(default_factory=dict[str, SearchResult])
    index: IndexInfo = INDEX
    failures: dict[str, list[KnowledgeError]] = field(
        default_factory=dict[str, list[KnowledgeError]]
    )
    gates: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])
    cosines: dict[str, float] = field(default_factory=dict[str, float])
    audit_failure: KnowledgeError | None = None
    index_failure: KnowledgeError | None = None
    calls: list[tuple[Claims, str, str, int]] = field(
        default_factory=list[tuple[Claims, str, str, int]]
    )
    changed_share: float = 0.0
    compared: int = 0
    rows: list[AuditRow] = field(default_factory=list[AuditRow])
    traced: list[tuple[int, dict[str, JsonValue]]] = field(
        default_factory=list[tuple[int, dict[str, JsonValue]]]
    )

    def bind(self, claims: Claims, *, source: str = "", top_k: int | None = None) -> KnowledgeTools:
        return FakeTools(self, claims, source, top_k)

    async def search(
        self, query: str, claims: Claims, *, top_k: int, source: str = ""
    ) -> SearchTrace:
        tools = self.bind(claims, source=source, top_k=top_k)
        result = await tools.search_kb(query, top_k, source)
        ids = tuple(hit.chunk_id for hit in result.hits)
        # As if one more had been found by words alone, and had not been good enough.
        stages = StageOrder(dense=ids, sparse=(*ids, "x1"), fused=(*ids, "x1"), selected=ids)
        return SearchTrace(result=result, stages=stages)

    async def read_audit(self, ask_id: str) -> AuditPage:
        if self.audit_failure is not None:
            raise self.audit_failure
        return AuditPage(rows=tuple(row for row in self.rows if row.ask_id == ask_id))

    async def forget(self, ask_ids: Sequence[str], caller: str = "") -> None:
        if self.audit_failure is not None:
            raise self.audit_failure
        self.rows = [row for row in self.rows if row.ask_id not in ask_ids]

    async def measure(self, query: str, chunk_ids: Sequence[str], claims: Claims) -> Measurement:
        if self.index_failure is not None:
            raise self.index_failure
        known = {chunk_id: self.cosines[chunk_id] for chunk_id in chunk_ids}
        return Measurement(cosines=known, index=self.index)

    async def compare(self, sketch: Sequence[int]) -> ContentChange:
        if self.index_failure is not None:
            raise self.index_failure
        self.compared += 1
        return ContentChange(build=self.index.build, changed_share=self.changed_share)

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
        if profile not in {"", "default"}:
            raise ToolRefusedError("bad_request", f"unknown profile {profile!r}")
        self.traced.append((top_k, dict(filters or {})))
        result = await self.bind(claims, top_k=top_k).search_kb(query, top_k)
        ids = tuple(hit.chunk_id for hit in result.hits)
        kind = "returned" if explain in ids else "not_retrieved"
        told = Explanation(chunk_id=explain, kind=kind, detail="As it is.") if explain else None
        return SearchTrace(result=result, stages=StageOrder(selected=ids), explanation=told)

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        if self.index_failure is not None:
            raise self.index_failure
        vectors = tuple((1.0, 0.0) if "SSO" in text else (0.0, 1.0) for text in texts)
        return Embeddings(model=self.index.embedding_model, dimension=2, vectors=vectors)

    async def ping(self) -> None:
        if self.index_failure is not None:
            raise self.index_failure


@dataclass
class FakeTools:
    knowledge: FakeKnowledge
    claims: Claims
    source: str
    top_k: int | None

    async def search_kb(self, query: str, top_k: int, source: str = "") -> SearchResult:
        known = self.knowledge
        known.calls.append((self.claims, query, self.source or source, self.top_k or top_k))
        if gate := known.gates.get(self.claims.branch):
            await gate.wait()
        if waiting := known.failures.get(self.claims.branch):
            raise waiting.pop(0)
        result = known.results.get(query) or make_result(query=query)
        self._log("search_kb", [hit.chunk_id for hit in result.hits])
        return result

    async def get_source(self, chunk_id: str) -> Source:
        self._log("get_source", [chunk_id])
        return Source(
            chunk_id=chunk_id, text=f"The text of {chunk_id}.", source="docs",
            source_url=f"https://docs.example/{chunk_id}", title="A title",
            section_heading="A heading", position=0,
        )  # fmt: skip

    async def list_sections(self, source: str = "", cursor: str = "") -> SectionPage:
        return SectionPage(sections=(), sources={"docs": 2}, index=self.knowledge.index)

    async def get_related(self, chunk_id: str, top_k: int) -> SearchResult:
        raise ToolRefusedError("unknown_chunk", "no such chunk")

    def _log(self, tool: str, chunk_ids: Sequence[str]) -> None:
        self.knowledge.rows.append(
            AuditRow(
                ask_id=self.claims.ask_id, branch=self.claims.branch, caller="", tool=tool,
                arguments={}, chunk_ids=tuple(chunk_ids), build=self.claims.build,
                milliseconds=1.0, created_at="2026-01-01T00:00:00+00:00",
            )
        )  # fmt: skip


Script = Callable[[AgentTask, KnowledgeTools], Awaitable[AgentOutcome]]


@dataclass
class FakeAgent:
    """An agent that does what its script says, and notes how it ended."""

    script: Script
    started: asyncio.Event = field(default_factory=asyncio.Event)
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    tasks: list[AgentTask] = field(default_factory=list[AgentTask])

    @property
    def kind(self) -> AgentKind:
        return "llm"

    @property
    def model(self) -> str:
        return "fake"

    async def answer(self, task: AgentTask, tools: KnowledgeTools) -> AgentOutcome:
        self.tasks.append(task)
        self.started.set()
        try:
            return await self.script(task, tools)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise

    async def close(self) -> None:
        return None


def says(text: str, *, refused: bool = False) -> Script:
    """Search verbatim, then write this text."""

    async def run(task: AgentTask, tools: KnowledgeTools) -> AgentOutcome:
        result = await tools.search_kb(task.search_question, task.top_k)
        return make_outcome(text, result, refused=refused)

    return run


def fails(error: Exception) -> Script:
    """Search verbatim, then fail."""

    async def run(task: AgentTask, tools: KnowledgeTools) -> AgentOutcome:
        await tools.search_kb(task.search_question, task.top_k)
        raise error

    return run


def hangs() -> Script:
    """Never come back."""

    async def run(task: AgentTask, tools: KnowledgeTools) -> AgentOutcome:
        await asyncio.Event().wait()
        raise AssertionError("nobody sets this event")

    return run


def knows(results: Mapping[str, SearchResult]) -> FakeKnowledge:
    """Return a tool server with these searches."""
    return FakeKnowledge(results=dict(results))
