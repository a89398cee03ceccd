"""What the memory tools take and return."""

from __future__ import annotations

from pydantic import Field, JsonValue

from context.contract import ContextModel, ContextResult


class Scope(ContextModel):
    """Whose memory it is; at least one of the three is given, blanks trimmed."""

    user_id: str = ""
    agent_id: str = ""
    run_id: str = ""


class Memory(ContextModel):
    """One remembered text."""

    memory_id: str
    content: str
    scope: Scope
    metadata: dict[str, JsonValue]
    created_at: str = Field(description="UTC, ISO 8601.")
    cosine: float | None = Field(default=None, ge=-1.0, le=1.0)
    rerank_logit: float | None = None


class Remembered(ContextResult):
    """Result of ``remember``."""

    memory: Memory


class Rerank(ContextModel):
    """Whether the memories were ordered anew; when that fails they stay in order of cosine."""

    asked: bool = False
    used: bool = False
    reason: str = ""


class Searched(ContextModel):
    """How a search was made, so that an empty result explains itself."""

    tool_version: str
    limit: int
    threshold: float = Field(description="Least cosine.")
    filter_shape: str = Field(description="The operators of the filter, without values.")
    filter_keys: tuple[str, ...]
    candidates: int = Field(description="Memories in scope that the filter let through, at most.")
    hits: int


class MemorySearch(ContextResult):
    """Result of ``search_memory``."""

    memories: tuple[Memory, ...]
    rerank: Rerank
    searched: Searched


class Forgotten(ContextResult):
    """Result of ``forget``."""

    forgotten: int = Field(ge=0, description="Memories deleted.")
