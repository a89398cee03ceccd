"""The registry of context modules: what both doors open, made from settings."""

from __future__ import annotations

from collections.abc import Sequence

from mcp.server.mcpserver.tools import Tool

from context.budget import Allowance, BudgetBook
from mcp_server.context_tools import ContextTools
from mcp_server.index_keeper import IndexKeeper
from mcp_server.memory_keeper import MemoryKeeper, MemoryOpener
from mcp_server.memory_tools import MemoryTools
from mcp_server.settings import McpSettings
from retrieval.memory import MemoryStore
from retrieval.memory_opening import open_memories


def open_context_tools(
    settings: McpSettings, keeper: IndexKeeper, memories: MemoryKeeper
) -> Sequence[Tool]:
    """Return every context tool, all of them paid for from one book."""
    book = BudgetBook(
        per_key=Allowance(settings.context_tokens_per_day, settings.context_calls_per_day),
        per_run=Allowance(settings.context_tokens_per_run, settings.context_calls_per_run),
    )
    price = settings.context_price_per_million_tokens
    return [
        *ContextTools(keeper, book, price_per_million_tokens=price).all(),
        *MemoryTools(keeper, memories, book).all(),
    ]


def memory_opener_of(settings: McpSettings) -> MemoryOpener:
    """Return what opens the memories beside the index."""

    def opener(model_digest: str, dimension: int) -> MemoryStore:
        return open_memories(settings, model_digest=model_digest, dimension=dimension)

    return opener
