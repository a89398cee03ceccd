"""The four tools and packing over an open engine, in this process, for evaluations.

The same engine and the same wire shapes as behind the tool server, without the network between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from context.evidence import SAME_COSINE, EvidenceRequest, fit_evidence
from knowledge.contracts import SearchResult, SectionPage, Source
from knowledge.packing import FittedPassages
from mcp_server.replies import fitted_passages, search_result, section_page, source_text
from retrieval.engine import Engine
from retrieval.search import SearchRequest
from retrieval.store import Filter
from service.tokens import Claims


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


class EnginePacker:
    """``Packer`` over an open engine, as the tool server's service channel packs.

    Args:
        engine: Open, and closed by its owner.
        where: What may be found.
    """

    def __init__(self, engine: Engine, where: Filter) -> None:
        self._engine = engine
        self._where = where

    async def fit_evidence(
        self,
        query: str,
        chunk_ids: Sequence[str],
        claims: Claims,
        *,
        known_ids: Sequence[str] = (),
        share: float = 1.0,
        budget_tokens: int = 0,
    ) -> FittedPassages:
        """Return what of some passages fits, repetitions left out."""
        stored = await self._engine.read([*chunk_ids, *known_ids], where=self._where)
        request = EvidenceRequest(
            query=query,
            chunk_ids=tuple(chunk_ids),
            known_ids=tuple(known_ids),
            share=share,
            budget_tokens=budget_tokens or None,
            threshold_cosine=SAME_COSINE,
        )
        fitted = await fit_evidence(request, stored, self._engine)
        return fitted_passages(fitted, build=claims.build or self._engine.info().build)
