"""The four tools as Python sees them: what an agent is given, and nothing else."""

from __future__ import annotations

from typing import Protocol

from knowledge.contracts import SearchResult, SectionPage, Source

TOOL_NAMES = ("search_kb", "get_source", "list_sections", "get_related")


class KnowledgeTools(Protocol):
    """The documentation, bound to one branch of one ask.

    An implementation carries the branch's token, source filter and deadline: whatever arguments a
    model gives, a bound source wins. Every method raises ``KnowledgeError`` and its subclasses.
    """

    async def search_kb(self, query: str, top_k: int, source: str = "") -> SearchResult:
        """Search; ``source`` is used only when the binding has none."""
        ...

    async def get_source(self, chunk_id: str) -> Source:
        """Return the exact stored text of a chunk and its neighbours' ids."""
        ...

    async def list_sections(self, source: str = "", cursor: str = "") -> SectionPage:
        """Return one page of the section tree."""
        ...

    async def get_related(self, chunk_id: str, top_k: int) -> SearchResult:
        """Return the chunks nearest to a chunk; cosines are against that chunk."""
        ...
