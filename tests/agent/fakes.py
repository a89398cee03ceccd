"""A hand-written documentation for agents: real passages, real numbers, no index."""

from __future__ import annotations

from collections.abc import Sequence

from agent.contract import AgentTask
from knowledge.contracts import (
    IndexInfo,
    SearchHit,
    SearchResult,
    Section,
    SectionPage,
    Signals,
    Source,
)
from knowledge.errors import KnowledgeError, ToolRefusedError

INDEX = IndexInfo(build="b1", embedding_model="m", dimension=3, profile="balanced")
SIGNALS = Signals(
    best_cosine=0.7,
    cosine_margin=0.1,
    sparse_per_term=0.5,
    term_coverage=1.0,
    unknown_terms=0.0,
    hit_count=1,
)

FOR_TEXT = """The "for" statement
*******************

The "for" statement is used to iterate over the elements of a sequence
(such as a string, tuple or list) or other iterable object:

   for_stmt ::= "for" target_list "in" starred_list ":" suite
                ["else" ":" suite]

The "starred_list" expression is evaluated once; it should yield an
*iterable* object.  When the iterator is exhausted, the suite in the
"else" clause, if present, is executed, and the loop terminates.
"""
INIT_TEXT = """Basic customization
*******************

object.__init__(self[, ...])

   Called after the instance has been created (by "__new__()"), but before
   it is returned to the caller.  The arguments are those passed to the
   class constructor expression.

object.__del__(self)

   Called when the instance is about to be destroyed.
"""
PORT_TEXT = """# Configuration

`VOUCH_PORT` sets the port of the page. The default is 8000.

To start everything, run:

```sh
make run
```
"""


def hit(
    chunk_id: str, text: str, *, heading: str = "", cosine: float = 0.7, rank: int = 1
) -> SearchHit:
    return SearchHit(
        chunk_id=chunk_id,
        text=text,
        source="guide",
        source_url=f"https://docs.example/{chunk_id}",
        title="Guide",
        section_heading=heading,
        cosine=cosine,
        fused_rank=rank,
    )


class FakeTools:
    """Answers every search with the same hits, or with what a query is mapped to."""

    def __init__(
        self,
        hits: Sequence[SearchHit] = (),
        *,
        by_query: dict[str, Sequence[SearchHit]] | None = None,
        error: KnowledgeError | None = None,
    ) -> None:
        self._hits = tuple(hits)
        self._by_query = by_query or {}
        self._error = error
        self.queries: list[tuple[str, int, str]] = []

    async def search_kb(self, query: str, top_k: int, source: str = "") -> SearchResult:
        self.queries.append((query, top_k, source))
        if self._error:
            raise self._error
        found = tuple(self._by_query.get(query, self._hits))[:top_k]
        return SearchResult(query=query, hits=found, signals=SIGNALS, index=INDEX)

    async def get_source(self, chunk_id: str) -> Source:
        known = {each.chunk_id: each for each in self._hits}
        if chunk_id not in known:
            raise ToolRefusedError("unknown_chunk", f"there is no chunk {chunk_id}")
        found = known[chunk_id]
        return Source(
            chunk_id=chunk_id,
            text=found.text,
            source=found.source,
            source_url=found.source_url,
            title=found.title,
            section_heading=found.section_heading,
            position=0,
        )

    async def list_sections(self, source: str = "", cursor: str = "") -> SectionPage:
        section = Section(
            source="guide",
            title="Guide",
            parent_heading="",
            section_heading="Configuration",
            source_url="https://docs.example/port",
            chunks=1,
            first_chunk_id="port",
        )
        return SectionPage(sections=(section,), sources={"guide": 1}, index=INDEX)

    async def get_related(self, chunk_id: str, top_k: int) -> SearchResult:
        return await self.search_kb(chunk_id, top_k)


def task(question: str, *, top_k: int = 4) -> AgentTask:
    return AgentTask(question=question, search_question=question, top_k=top_k, ask_id="ask-1")
