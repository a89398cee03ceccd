"""The memory tools: the part of the context tools that changes something.

The docstrings are read by models: they are prompt text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from mcp.server.mcpserver.tools import Tool
from mcp.types import ToolAnnotations
from pydantic import Field, JsonValue

from context.budget import BudgetBook
from context.charging import charge
from context.contract_memory import Forgotten, MemorySearch, Remembered, Scope
from context.memory import Memories
from mcp_server.auth import current_caller
from mcp_server.index_keeper import IndexKeeper
from mcp_server.memory_keeper import MemoryKeeper
from mcp_server.origin import account
from mcp_server.server import READ_ONLY, make_tool
from mcp_server.tools import Query
from service.logs import get_logger

_log = get_logger(__name__)

_WRITES = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)
_DELETES = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)

Content = Annotated[str, Field(max_length=8000, description="What to remember, in full words.")]
ScopeOf = Annotated[
    Scope,
    Field(description='Whose memory: at least one id, for example {"user_id": "ada"}.'),
]
Metadata = Annotated[
    dict[str, JsonValue],
    Field(description="Fields to find it by: texts, numbers, truth values or lists of them."),
]
Filters = Annotated[
    dict[str, JsonValue],
    Field(
        description='For example {"topic": "build", "OR": [{"rank": {"gte": 3}}, '
        '{"NOT": {"done": true}}]}. Comparisons: eq, ne, gt, gte, lt, lte, in, nin. '
        "created_at compares with ISO 8601 times."
    ),
]
NewestK = Annotated[int, Field(ge=1, le=100, description="How many memories to return.")]
Threshold = Annotated[float, Field(ge=-1.0, le=1.0, description="Least cosine with the query.")]
MemoryId = Annotated[str, Field(max_length=64, description="Only this memory.")]


class MemoryTools:
    """Remember, search and forget, within the caller's own memories.

    Args:
        keeper: Holds the engine, whose model gives the vectors.
        memories: Holds the store.
        book: What callers may spend.
    """

    def __init__(self, keeper: IndexKeeper, memories: MemoryKeeper, book: BudgetBook) -> None:
        self._keeper = keeper
        self._memories = memories
        self._book = book

    def all(self) -> Sequence[Tool]:
        """Return every tool of the set."""
        return [
            make_tool(self.remember, annotations=_WRITES),
            make_tool(self.search_memory, annotations=READ_ONLY),
            make_tool(self.forget, annotations=_DELETES),
        ]

    async def remember(
        self,
        *,
        content: Content,
        scope: ScopeOf,
        metadata: Metadata = {},  # noqa: B006 - read only; the default is part of the schema
    ) -> Remembered:
        """Keep a text for later runs, under a user, an agent or a run."""
        engine = self._keeper.engine()
        return await charge(
            self._book,
            account(),
            engine.tokenizer,
            [content],
            lambda: self._open().remember(content, scope, metadata, owner=current_caller().name),
        )

    async def search_memory(
        self,
        *,
        query: Query,
        scope: ScopeOf,
        top_k: NewestK = 5,
        threshold: Threshold = 0.1,
        filters: Filters = {},  # noqa: B006
        rerank: bool = False,
    ) -> MemorySearch:
        """Find what was remembered under a user, an agent or a run, nearest to a query first."""
        engine = self._keeper.engine()
        found = await charge(
            self._book,
            account(),
            engine.tokenizer,
            [query],
            lambda: self._open().search(
                query,
                scope,
                filters,
                owner=current_caller().name,
                top_k=top_k,
                threshold_cosine=threshold,
                rerank=rerank,
            ),
        )
        _log.info("memory_search", **found.searched.model_dump(), rerank=found.rerank.model_dump())
        return found

    async def forget(
        self,
        *,
        scope: ScopeOf,
        memory_id: MemoryId = "",
        filters: Filters = {},  # noqa: B006
    ) -> Forgotten:
        """Delete one memory, those that a filter finds, or everything of a scope."""
        engine = self._keeper.engine()
        return await charge(
            self._book,
            account(),
            engine.tokenizer,
            [],
            lambda: self._open().forget(
                scope, filters, owner=current_caller().name, memory_id=memory_id
            ),
        )

    def _open(self) -> Memories:
        engine = self._keeper.engine()
        return Memories(self._memories.store(engine), engine, reranker=engine.rerank)
