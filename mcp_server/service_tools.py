"""The tools of the API itself: never given to an agent, outside the pinned list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from mcp.server.mcpserver.tools import Tool
from pydantic import AwareDatetime, Field

from context.evidence import SAME_COSINE, EvidenceRequest, fit_evidence
from knowledge.contracts import (
    AuditPage,
    ContentChange,
    Embeddings,
    Forgotten,
    Measurement,
    SearchTrace,
)
from knowledge.packing import FittedPassages
from mcp_server.audit import AuditTrail
from mcp_server.auth import current_caller
from mcp_server.filters import Filters, filter_of
from mcp_server.index_keeper import IndexKeeper
from mcp_server.replies import bounded, fitted_passages, index_info, search_trace
from mcp_server.server import make_tool
from mcp_server.tools import ChunkId, Query, TopK, visible_to
from retrieval.errors import UnknownChunkError
from retrieval.search import SearchRequest
from retrieval.sketch import SKETCH_SIZE, changed_share

INSTRUCTIONS = "Tools of the API's own: the audit, traced searches, measurements and vectors."

CallerName = Annotated[str, Field(min_length=1, max_length=100)]
AwareTime = Annotated[AwareDatetime, Field(description="ISO 8601 with its zone.")]
AskId = Annotated[str, Field(min_length=1, max_length=64)]
AskIds = Annotated[list[AskId], Field(min_length=1, max_length=200)]
ForgottenCaller = Annotated[str, Field(max_length=100, description="As `key-ID`; empty: nobody.")]
ProfileName = Annotated[str, Field(max_length=100, description="Empty: the build's own profile.")]
ExplainedId = Annotated[
    str, Field(max_length=100, description="Chunk whose place is explained; empty: none.")
]
ChunkIds = Annotated[list[ChunkId], Field(max_length=200)]
PassageIds = Annotated[list[ChunkId], Field(min_length=1, max_length=200)]
Share = Annotated[float, Field(gt=0.0, le=1.0, description="Of the tokens, what may stay.")]
TokenBudget = Annotated[int, Field(ge=0, description="Tokens that may stay; 0: as the share says.")]
Sketch = Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1, max_length=SKETCH_SIZE)]
Texts = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=20_000)]], Field(min_length=1, max_length=64)
]


class ServiceTools:
    """The service tools over the engine and the audit.

    Args:
        keeper: Holds the engine, or the reason why there is none.
        trail: The audit of this server.
    """

    def __init__(self, keeper: IndexKeeper, trail: AuditTrail) -> None:
        self._keeper = keeper
        self._trail = trail

    def all(self) -> Sequence[Tool]:
        """Return every tool of the set."""
        functions = (
            self.read_audit,
            self.read_calls,
            self.forget_asks,
            self.trace_search,
            self.measure_chunks,
            self.fit_evidence,
            self.compare_content,
            self.embed_texts,
        )
        return [make_tool(function) for function in functions]

    async def read_audit(self, ask_id: AskId) -> AuditPage:
        """Return every finished tool call of an ask, in order."""
        return AuditPage(rows=await self._trail.rows(ask_id))

    async def read_calls(self, caller: CallerName, start: AwareTime, end: AwareTime) -> AuditPage:
        """Return the finished calls of one fixed token between two times, in order."""
        return AuditPage(rows=await self._trail.calls(caller, start, end))

    async def forget_asks(self, ask_ids: AskIds, caller: ForgottenCaller = "") -> Forgotten:
        """Delete the recorded calls of asks, and of one caller's own calls when it is named."""
        return Forgotten(rows=await self._trail.erase(ask_ids, caller))

    async def trace_search(
        self,
        query: Query,
        filters: Filters,
        top_k: TopK = 4,
        profile: ProfileName = "",
        explain: ExplainedId = "",
    ) -> SearchTrace:
        """Search as search_kb does; return the order after every stage, and explain one chunk."""
        claims = current_caller().claims
        request = SearchRequest(
            query=query,
            top_k=top_k,
            where=filter_of(filters, claims),
            build=claims.build,
            profile=profile,
        )
        engine = self._keeper.engine()
        outcome = await engine.search(request)
        if not explain:
            return search_trace(outcome)
        # The same build, though another may be published between the two.
        pinned = replace(request, build=outcome.manifest.build)
        return search_trace(outcome, await engine.explain(pinned, explain))

    async def measure_chunks(self, query: Query, chunk_ids: ChunkIds) -> Measurement:
        """Return the cosine of each visible chunk against a query."""
        claims = current_caller().claims
        engine = self._keeper.engine()
        cosines = await engine.measure(
            query, chunk_ids, where=visible_to(claims), build=claims.build
        )
        return Measurement(
            cosines={chunk_id: bounded(cosine) for chunk_id, cosine in cosines.items()},
            index=index_info(engine.info()),
        )

    async def fit_evidence(
        self,
        query: Query,
        chunk_ids: PassageIds,
        known_ids: ChunkIds,
        share: Share = 1.0,
        budget_tokens: TokenBudget = 0,
    ) -> FittedPassages:
        """Return what of an ask's passages fits its reader, repetitions left out."""
        claims = current_caller().claims
        engine = self._keeper.engine()
        wanted = tuple(dict.fromkeys(chunk_ids))
        known = tuple(each for each in dict.fromkeys(known_ids) if each not in set(wanted))
        stored = await engine.read([*wanted, *known], where=visible_to(claims), build=claims.build)
        for chunk_id in wanted:
            if chunk_id not in stored:
                raise UnknownChunkError(f"there is no chunk {chunk_id}")
        request = EvidenceRequest(
            query=query,
            chunk_ids=wanted,
            known_ids=tuple(each for each in known if each in stored),
            share=share,
            budget_tokens=budget_tokens or None,
            threshold_cosine=SAME_COSINE,
        )
        fitted = await fit_evidence(request, stored, engine)
        return fitted_passages(fitted, build=claims.build or engine.info().build)

    async def compare_content(self, sketch: Sketch) -> ContentChange:
        """Return how far the build in force is from the content of another build."""
        manifest = self._keeper.engine().info()
        return ContentChange(
            build=manifest.build, changed_share=changed_share(manifest.sketch, sketch)
        )

    async def embed_texts(self, texts: Texts) -> Embeddings:
        """Return the unit vector of each text by the index's own model."""
        engine = self._keeper.engine()
        vectors = await engine.embed(texts)
        stamp = engine.info().stamp
        return Embeddings(
            model=stamp.embedding_model,
            dimension=stamp.dimension,
            vectors=tuple(tuple(float(value) for value in vector) for vector in vectors),
        )
