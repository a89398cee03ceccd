"""The four tools bound to one branch of one ask."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import JsonValue

from knowledge.client_calls import GET_RELATED, GET_SOURCE, LIST_SECTIONS, SEARCH_KB
from knowledge.client_channel import ToolChannel
from knowledge.contracts import IndexInfo, SearchResult, SectionPage, Source


class BoundTools:
    """The four tools with a branch's token, source and top_k; implements ``KnowledgeTools``.

    Args:
        channel: Where the four tools are.
        token: Signed claims of the branch.
        source: Wins over any argument when not empty.
        top_k: Wins over any argument when not None.
        saw_index: Told which index answered.
    """

    def __init__(
        self,
        channel: ToolChannel,
        *,
        token: str,
        source: str,
        top_k: int | None,
        saw_index: Callable[[IndexInfo], None],
    ) -> None:
        self._channel = channel
        self._token = token
        self._source = source
        self._top_k = top_k
        self._saw_index = saw_index

    async def search_kb(self, query: str, top_k: int, source: str = "") -> SearchResult:
        """Search the documentation."""
        arguments: dict[str, JsonValue] = {
            "query": query,
            "top_k": self._top_k or top_k,
            "source": self._source or source,
        }
        result = await self._channel.call(SEARCH_KB, arguments, token=self._token)
        self._saw_index(result.index)
        return result

    async def get_source(self, chunk_id: str) -> Source:
        """Return the exact stored text of a chunk and its neighbours' ids."""
        arguments: dict[str, JsonValue] = {"chunk_id": chunk_id}
        return await self._channel.call(GET_SOURCE, arguments, token=self._token)

    async def list_sections(self, source: str = "", cursor: str = "") -> SectionPage:
        """Return one page of the section tree."""
        arguments: dict[str, JsonValue] = {"source": self._source or source, "cursor": cursor}
        page = await self._channel.call(LIST_SECTIONS, arguments, token=self._token)
        self._saw_index(page.index)
        return page

    async def get_related(self, chunk_id: str, top_k: int) -> SearchResult:
        """Return the chunks nearest to a chunk; cosines are against that chunk."""
        arguments: dict[str, JsonValue] = {"chunk_id": chunk_id, "top_k": self._top_k or top_k}
        result = await self._channel.call(GET_RELATED, arguments, token=self._token)
        self._saw_index(result.index)
        return result
