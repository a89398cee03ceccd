"""What travels between the tool server and its callers.

These are the only shapes evidence has on a wire. Every number says what it is; there is no bare
"score". Models are frozen and refuse unknown fields, so that a drift between the two sides is an
error and not a surprise.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

# Beside the result of the guard's own search: no part of any tool's schema, so that no agent and no
# host is ever shown it.
STAGES_KEY = "vouch/stages"

Cosine = Annotated[float, Field(ge=-1.0, le=1.0)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]


class Wire(BaseModel):
    """Base of every wire model: frozen, and closed to unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SearchHit(Wire):
    """One chunk found for a query, with every number that led to its place."""

    chunk_id: str = Field(description="Stable UUID of the chunk.")
    text: str = Field(description="The exact text of the source, nothing added.")
    source: str = Field(description="Name of the source the chunk was ingested from.")
    source_url: str = Field(description="Address of the passage in the original documentation.")
    title: str
    section_heading: str
    parent_heading: str = ""
    position: int = Field(default=0, ge=0, description="Place of the chunk within its document.")
    metadata: dict[str, JsonValue] = Field(default_factory=dict)
    cosine: Cosine = Field(description="Raw dense cosine against the query.")
    fused_rank: int = Field(ge=1, description="Place in the final order, from 1.")
    rrf: float | None = Field(default=None, description="Reciprocal rank fusion value.")
    zscore: float | None = Field(default=None, description="Sum of z-scores of cosine and BM25.")
    dense_rank: int | None = Field(default=None, ge=1)
    sparse_rank: int | None = Field(default=None, ge=1)
    sparse_bm25: float | None = Field(default=None, description="Raw BM25 with IDF.")
    rerank_logit: float | None = Field(default=None, description="Cross-encoder output, unbounded.")
    matched_terms: tuple[str, ...] = Field(
        default=(), description="Words of the query that the chunk contains, as the query has them."
    )


class FilteredHit(Wire):
    """A candidate that was found and then left out, with the reason."""

    chunk_id: str
    reason: Literal["near_duplicate", "source_cap"]
    duplicate_of: str | None = Field(default=None, description="Chunk id it repeats.")
    duplicate_cosine: Cosine | None = Field(default=None, description="Cosine between the two.")


class Signals(Wire):
    """What the guard reads, computed over all candidates before fusion."""

    best_cosine: Cosine | None = Field(description="Null when nothing at all was found.")
    cosine_margin: float = Field(description="Best cosine minus that of the fifth, in [0, 2].")
    sparse_per_term: float = Field(
        description="Best BM25 over the most the query's words could reach, in [0, 1]."
    )
    term_coverage: Share = Field(
        description="IDF-weighted share of the query's words in the best chunk."
    )
    unknown_terms: Share = Field(description="Share of the query's words the index has never seen.")
    hit_count: int = Field(ge=0)
    more: dict[str, float] = Field(
        default_factory=dict, description="Further named signals; each is defined in the engine."
    )
    missing_terms: tuple[str, ...] = Field(
        default=(),
        description="Words of the query that no returned passage contains, rarest first.",
    )


class IndexInfo(Wire):
    """Which index answered."""

    build: str
    embedding_model: str
    dimension: int = Field(ge=1)
    profile: str
    header_format: str = ""
    chunker: str = ""
    chunks: int = Field(default=0, ge=0)
    model_digest: str = Field(default="", description="Of the embedding model; empty: unknown.")
    content_digest: str = Field(
        default="", description="Over the chunk ids: equal content, equal digest; empty: unknown."
    )


class SearchResult(Wire):
    """Result of ``search_kb`` and ``get_related``."""

    query: str
    hits: tuple[SearchHit, ...]
    signals: Signals
    index: IndexInfo
    filtered: tuple[FilteredHit, ...] = ()
    degraded: tuple[str, ...] = Field(default=(), description="Names of stages that fell back.")


class Source(Wire):
    """Result of ``get_source``: the exact stored text and its place."""

    chunk_id: str
    text: str
    source: str
    source_url: str
    title: str
    section_heading: str
    parent_heading: str = ""
    position: int = Field(ge=0)
    previous_chunk_id: str | None = None
    next_chunk_id: str | None = None
    metadata: dict[str, JsonValue] = Field(default_factory=dict)
    build: str = Field(default="", description="Index build it was read from.")


class Section(Wire):
    """One heading of a document, with how many chunks it holds."""

    source: str
    title: str
    parent_heading: str
    section_heading: str
    source_url: str
    chunks: int = Field(ge=1)
    first_chunk_id: str


class SectionPage(Wire):
    """Result of ``list_sections``: one page in document order."""

    sections: tuple[Section, ...]
    sources: dict[str, int] = Field(description="Chunks of each source, over all pages.")
    next_cursor: str = Field(default="", description="Empty on the last page.")
    index: IndexInfo


class ToolFailure(Wire):
    """The error object a tool answers with: the same over MCP and over HTTP."""

    code: str
    message: str
    retryable: bool = False
    retry_after_seconds: int = Field(
        default=0, ge=0, description="When to call again; zero when nothing is known of it."
    )


class AuditRow(Wire):
    """One recorded tool call, with the signed claims of its caller."""

    ask_id: str
    branch: str
    caller: str
    tool: str
    arguments: dict[str, JsonValue]
    chunk_ids: tuple[str, ...]
    cosines: tuple[float, ...] = ()
    build: str
    milliseconds: float
    error: str = Field(default="", description="Code of the failure; empty on success.")
    created_at: str = Field(description="UTC, ISO 8601.")
    request_id: str = Field(default="", description="Ties the row to the lines of all logs.")
    tokens_in: int = Field(default=0, ge=0, description="Tokens of the texts given.")
    tokens_out: int = Field(default=0, ge=0, description="Tokens of the texts returned.")


class AuditPage(Wire):
    """Result of the service tool ``read_audit``."""

    rows: tuple[AuditRow, ...]


class Forgotten(Wire):
    """Result of the service tool ``forget_asks``."""

    rows: int = Field(ge=0, description="Recorded calls that were deleted.")


class Measurement(Wire):
    """Result of the service tool ``measure_chunks``: cosines of given chunks against a query."""

    cosines: dict[str, Cosine]
    index: IndexInfo


class ContentChange(Wire):
    """Result of the service tool ``compare_content``: how far a build is from another's content."""

    build: str
    changed_share: Share = Field(description="Chunks that only one of the two has, over all.")


class Embeddings(Wire):
    """Result of the service tool ``embed_texts``."""

    model: str
    dimension: int
    vectors: tuple[tuple[float, ...], ...] = Field(description="Unit rows, one per text.")


class StageOrder(Wire):
    """Chunk ids as each stage of a search ordered them, best first."""

    dense: tuple[str, ...] = ()
    sparse: tuple[str, ...] = ()
    parts: tuple[str, ...] = Field(default=(), description="By the nearest part of each passage.")
    part_cosines: dict[str, Cosine] = Field(
        default={},
        description="Cosine of the nearest part of each selected passage; empty when parts are "
        "not compared.",
    )
    fused: tuple[str, ...] = ()
    reranked: tuple[str, ...] = ()
    selected: tuple[str, ...] = ()
    cut_at: int | None = Field(
        default=None, ge=1, description="Longer lists were cut at this many ids; null: none was."
    )


class Explanation(Wire):
    """Why one chunk is among the hits of a search, or is not."""

    chunk_id: str
    kind: Literal[
        "returned", "stale", "not_retrieved", "below_cut_off", "near_duplicate", "source_cap"
    ]
    detail: str = Field(description="One sentence, with the numbers.")
    cosine: Cosine | None = Field(default=None, description="Null when the build lacks the chunk.")
    bm25: float | None = Field(default=None, description="Null when it has no word of the query.")
    dense_rank: int | None = Field(default=None, ge=1)
    sparse_rank: int | None = Field(default=None, ge=1)
    fused_rank: int | None = Field(default=None, ge=1)
    reranked_rank: int | None = Field(default=None, ge=1)


class SearchTrace(Wire):
    """Result of the service tool ``trace_search``: a search with the order after every stage.

    The hits are those ``search_kb`` returns for the same query, top_k and build: one function and
    one configuration serve both.
    """

    result: SearchResult
    stages: StageOrder
    explanation: Explanation | None = Field(
        default=None, description="Of the chunk that was asked about, if one was."
    )
