"""The four tools over an open engine, in this process: what an agent is given in an evaluation.

The same engine and the same wire shapes as behind the tool server, without the network between.
"""

from __future__ import annotations

from dataclasses import replace

from knowledge.contracts import SearchResult, SectionPage, Source
from mcp_server.replies import search_result, section_page, source_text
from retrieval.engine import Engine
from retrieval.search import SearchRequest
from retrieval.store import Filter


class EngineTools:
    """``KnowledgeTools`` bound to what a filter lets through.

    Args:
        engine: Open, and closed by its owner.
        where: What may be found, whatever an agent asks for.
    """

    def __init__(self, engine: Engine, where: Filter) -> None:
        self._engine = engine
        self._where = where

    async def search_kb(self, query: str, top_k: int, source: str = "") -> SearchResult:
        """Search; a source in the binding wins."""
        where = replace(self._where, source=self._where.source or source)
        return search_result(
            await self._engine.search(SearchRequest(query=query, top_k=top_k, where=where))
        )

    async def get_source(self, chunk_id: str) -> Source:
        """Return one chunk as it is stored."""
        return source_text(await self._engine.source(chunk_id, where=self._where))

    async def list_sections(self, source: str = "", cursor: str = "") -> SectionPage:
        """Return one page of the section tree."""
        name = self._where.source or source
        return section_page(await self._engine.sections(name, cursor=cursor, where=self._where))

    async def get_related(self, chunk_id: str, top_k: int) -> SearchResult:
        """Return the chunks nearest to a chunk."""
        return search_result(await self._engine.related(chunk_id, top_k=top_k, where=self._where))
