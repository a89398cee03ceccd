"""The recorder between an agent and the four tools.

Everything an agent learns passes here: passages get their citation numbers, calls are timed and
counted, and what was received is what the caller later sees as evidence.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from pydantic import JsonValue

from agent.budget import Budget
from agent.contract import Evidence, Span, ToolCall
from knowledge.contracts import SearchHit, SearchResult, SectionPage, Source
from knowledge.errors import KnowledgeError
from knowledge.tools import KnowledgeTools

Received = TypeVar("Received", SearchResult, Source, SectionPage)


class CapturingTools:
    """``KnowledgeTools`` that numbers evidence, records calls and keeps the call budget.

    Args:
        tools: The tools bound to this ask.
        budget: Refuses calls beyond its limit with ``CallBudgetSpentError``.
        clock: Seconds, monotonic.
    """

    def __init__(
        self,
        tools: KnowledgeTools,
        budget: Budget,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._tools = tools
        self._budget = budget
        self._clock = clock
        self._evidence: dict[str, Evidence] = {}
        self._calls: list[ToolCall] = []

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Every passage received, in the order of their numbers."""
        return tuple(self._evidence.values())

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Every call made, in order."""
        return tuple(self._calls)

    def number_of(self, chunk_id: str) -> int:
        """Return the citation number of a received chunk."""
        return self._evidence[chunk_id].number

    def give(self, chunk_id: str, text: str, kept: tuple[Span, ...]) -> None:
        """Record what of a passage is put before the agent.

        Args:
            chunk_id: A received chunk.
            text: As the agent gets it; empty for nothing.
            kept: Where it stands in the passage as stored.
        """
        passage = self._evidence[chunk_id]
        if text == passage.whole:
            self._evidence[chunk_id] = replace(passage, text=text, stored=None, kept=None)
        else:
            self._evidence[chunk_id] = replace(passage, text=text, stored=passage.whole, kept=kept)

    def reject(self, tool: str, arguments: str, code: str) -> None:
        """Record a call that never reached the tools, at the price of one.

        Args:
            tool: The name the model used.
            arguments: The arguments as it wrote them.
            code: What was wrong.

        Raises:
            CallBudgetSpentError: No call is left; nothing is recorded.
        """
        self._budget.spend_call()
        self._calls.append(ToolCall(tool, {"raw": arguments}, (), 0.0, code))

    async def search_kb(self, query: str, top_k: int, source: str = "") -> SearchResult:
        """Search, and number the hits not seen before."""
        arguments: dict[str, JsonValue] = {"query": query, "top_k": top_k, "source": source}
        return await self._record(
            "search_kb",
            arguments,
            lambda: self._tools.search_kb(query, top_k, source),
            lambda result: result.hits,
        )

    async def get_source(self, chunk_id: str) -> Source:
        """Fetch one chunk, and number it when it was not seen before."""
        return await self._record(
            "get_source",
            {"chunk_id": chunk_id},
            lambda: self._tools.get_source(chunk_id),
            lambda result: (result,),
        )

    async def list_sections(self, source: str = "", cursor: str = "") -> SectionPage:
        """List headings; headings are no evidence and get no number."""
        return await self._record(
            "list_sections",
            {"source": source, "cursor": cursor},
            lambda: self._tools.list_sections(source, cursor),
            lambda _: (),
        )

    async def get_related(self, chunk_id: str, top_k: int) -> SearchResult:
        """Fetch neighbours in meaning, and number those not seen before."""
        return await self._record(
            "get_related",
            {"chunk_id": chunk_id, "top_k": top_k},
            lambda: self._tools.get_related(chunk_id, top_k),
            lambda result: result.hits,
        )

    async def _record(
        self,
        tool: str,
        arguments: dict[str, JsonValue],
        call: Callable[[], Awaitable[Received]],
        passages: Callable[[Received], Sequence[SearchHit | Source]],
    ) -> Received:
        self._budget.spend_call()
        started = self._clock()
        try:
            result = await call()
        except KnowledgeError as error:
            self._log(tool, arguments, (), started, error.code)
            raise
        received = passages(result)
        for passage in received:
            self._number(passage, tool)
        self._log(tool, arguments, tuple(each.chunk_id for each in received), started, "")
        return result

    def _log(
        self,
        tool: str,
        arguments: dict[str, JsonValue],
        chunk_ids: tuple[str, ...],
        started: float,
        error: str,
    ) -> None:
        milliseconds = (self._clock() - started) * 1000
        self._calls.append(ToolCall(tool, arguments, chunk_ids, milliseconds, error))

    def _number(self, passage: SearchHit | Source, tool: str) -> None:
        if passage.chunk_id in self._evidence:
            return
        self._evidence[passage.chunk_id] = Evidence(
            number=len(self._evidence) + 1,
            chunk_id=passage.chunk_id,
            text=passage.text,
            source=passage.source,
            source_url=passage.source_url,
            title=passage.title,
            section_heading=passage.section_heading,
            parent_heading=passage.parent_heading,
            position=passage.position,
            metadata=passage.metadata,
            cosine=passage.cosine if isinstance(passage, SearchHit) else None,
            tool=tool,
        )
