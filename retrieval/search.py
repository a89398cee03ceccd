"""One search, as the engine takes and returns it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from retrieval.chunk import Chunk, Occurrence
from retrieval.manifest import Manifest
from retrieval.store import Filter


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A query with its bounds.

    Attributes:
        top_k: Hits to return, 1 to 50.
        where: Source, labels and fields, applied inside the index query.
        build: Build to search; empty means the one in force.
        profile: Retrieval profile; empty means the build's own.
    """

    query: str
    top_k: int
    where: Filter = field(default_factory=Filter)
    build: str = ""
    profile: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """One chunk with the numbers of each stage; None where a stage did not see it.

    Attributes:
        occurrence: The place to show, chosen among those the filter lets through.
        cosine: Raw dense cosine, in [-1, 1], for every hit however found.
        sparse_bm25: Raw BM25 with IDF, >= 0.
        part_cosine: Cosine of its nearest part, in [-1, 1]; orders hits, never judges them.
        fused_rank: From 1, over all candidates, before near-duplicate removal.
    """

    chunk: Chunk
    occurrence: Occurrence
    cosine: float
    dense_rank: int | None
    sparse_rank: int | None
    sparse_bm25: float | None
    rrf: float | None
    zscore: float | None
    fused_rank: int
    rerank_logit: float | None = None
    part_cosine: float | None = None
    matched_terms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Filtered:
    """A candidate left out, and why."""

    chunk_id: str
    reason: Literal["near_duplicate", "source_cap"]
    duplicate_of: str | None = None
    duplicate_cosine: float | None = None


@dataclass(frozen=True, slots=True)
class SearchSignals:
    """What the guard reads; formulas and ranges are in ``retrieval.signals``."""

    best_cosine: float | None
    cosine_margin: float
    sparse_per_term: float
    term_coverage: float
    unknown_terms: float
    hit_count: int
    more: dict[str, float] = field(default_factory=dict[str, float])
    missing_terms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Trace:
    """The order of candidates after each stage, by chunk id.

    Attributes:
        parts: By their nearest part; empty when parts are not used.
        part_cosines: Of the selected, the cosine of the nearest part; empty likewise.
    """

    dense: tuple[str, ...]
    sparse: tuple[str, ...]
    fused: tuple[str, ...]
    reranked: tuple[str, ...]
    selected: tuple[str, ...]
    parts: tuple[str, ...] = ()
    part_cosines: dict[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """Everything one search produced.

    Attributes:
        hits: At most top_k, in final order; the chunk of the best cosine is always among them.
        degraded: Names of stages that fell back (``rerank_failed``, ``parts_missing``).
        visible_chunks: Chunks of the build that the filter's labels let through; None: all.
    """

    query: str
    hits: tuple[Hit, ...]
    signals: SearchSignals
    manifest: Manifest
    filtered: tuple[Filtered, ...]
    trace: Trace
    degraded: tuple[str, ...] = ()
    visible_chunks: int | None = None


@dataclass(frozen=True, slots=True)
class SourceOutcome:
    """One stored chunk at the place the filter lets through, with the build it was read from."""

    chunk: Chunk
    occurrence: Occurrence
    manifest: Manifest


@dataclass(frozen=True, slots=True)
class SectionEntry:
    """One heading of a document, with how many visible chunks it holds."""

    source: str
    title: str
    parent_heading: str
    section_heading: str
    source_url: str
    chunks: int
    first_chunk_id: str


@dataclass(frozen=True, slots=True)
class SectionOutcome:
    """One page of the section tree, in document order.

    Attributes:
        sources: Visible chunks of each source, over all pages.
        next_cursor: Empty on the last page.
        visible_chunks: Chunks of the build that the filter's labels let through; None: all.
    """

    sections: tuple[SectionEntry, ...]
    sources: dict[str, int]
    next_cursor: str
    manifest: Manifest
    visible_chunks: int | None = None
