"""Values the backend's tests are about, with only what matters to a test spelled out."""

from __future__ import annotations

from agent.contract import AgentOutcome, Evidence, ToolCall
from backend.verdict.calibration_artefact import (
    CalibrationArtefact,
    CalibrationStamp,
    Operating,
    SignalWeight,
    Target,
)
from knowledge.contracts import AuditRow, IndexInfo, SearchHit, SearchResult, Signals

INDEX = IndexInfo(
    build="b1",
    embedding_model="all-MiniLM-L6-v2",
    dimension=384,
    profile="default",
    header_format="h1",
    chunker="c1",
    chunks=100,
)


def make_hit(
    chunk_id: str = "c1", *, cosine: float = 0.8, text: str = "", rank: int = 1
) -> SearchHit:
    return SearchHit(
        chunk_id=chunk_id,
        text=text or f"The text of {chunk_id}.",
        source="docs",
        source_url=f"https://docs.example/{chunk_id}",
        title="A title",
        section_heading="A heading",
        cosine=cosine,
        fused_rank=rank,
    )


def make_signals(
    best_cosine: float | None = 0.8,
    *,
    hit_count: int = 2,
    missing_terms: tuple[str, ...] = (),
    more: dict[str, float] | None = None,
) -> Signals:
    return Signals(
        best_cosine=best_cosine,
        cosine_margin=0.1,
        sparse_per_term=0.5,
        term_coverage=0.5,
        unknown_terms=0.0,
        hit_count=hit_count,
        missing_terms=missing_terms,
        more=more or {},
    )


def make_result(
    *chunk_ids: str, query: str = "q", best_cosine: float | None = 0.8, index: IndexInfo = INDEX
) -> SearchResult:
    hits = tuple(
        make_hit(chunk_id, cosine=(best_cosine or 0.0) - 0.01 * place, rank=place + 1)
        for place, chunk_id in enumerate(chunk_ids)
    )
    return SearchResult(
        query=query,
        hits=hits,
        signals=make_signals(best_cosine if hits else None, hit_count=len(hits)),
        index=index,
    )


def make_evidence(number: int, hit: SearchHit, *, tool: str = "search_kb") -> Evidence:
    return Evidence(
        number=number,
        chunk_id=hit.chunk_id,
        text=hit.text,
        source=hit.source,
        source_url=hit.source_url,
        title=hit.title,
        section_heading=hit.section_heading,
        parent_heading=hit.parent_heading,
        position=hit.position,
        metadata=dict(hit.metadata),
        cosine=hit.cosine if tool == "search_kb" else None,
        tool=tool,
    )


def make_outcome(
    text: str, result: SearchResult, *, refused: bool = False, more: tuple[Evidence, ...] = ()
) -> AgentOutcome:
    evidence = tuple(make_evidence(place + 1, hit) for place, hit in enumerate(result.hits))
    return AgentOutcome(
        kind="llm",
        model="fake",
        status="refused" if refused else "answered",
        text=text,
        evidence=(*evidence, *more),
        tool_calls=(
            ToolCall(
                tool="search_kb",
                arguments={"query": result.query},
                chunk_ids=tuple(hit.chunk_id for hit in result.hits),
                milliseconds=1.0,
            ),
        ),
        rounds=1,
    )


def make_audit_row(
    *chunk_ids: str, branch: str = "agent", tool: str = "search_kb", error: str = ""
) -> AuditRow:
    return AuditRow(
        ask_id="a",
        branch=branch,
        caller="",
        tool=tool,
        arguments={},
        chunk_ids=chunk_ids,
        build="b1",
        milliseconds=1.0,
        error=error,
        created_at="2026-01-01T00:00:00+00:00",
    )


def make_artefact(
    *, threshold: float = 0.5, coefficient: float = 10.0, mean: float = 0.5, build: str = "b1"
) -> CalibrationArtefact:
    return CalibrationArtefact(
        name="test",
        created_at="2026-01-01T00:00:00+00:00",
        stamp=CalibrationStamp(
            embedding_model=INDEX.embedding_model,
            dimension=INDEX.dimension,
            header_format=INDEX.header_format,
            chunker=INDEX.chunker,
            profile=INDEX.profile,
            build=build,
            chunks=100,
        ),
        intercept=0.0,
        weights=(
            SignalWeight(
                name="best_cosine",
                coefficient=coefficient,
                mean=mean,
                scale=1.0,
                lowest=-1.0,
                highest=1.0,
                missing=0.0,
            ),
        ),
        threshold=threshold,
        target=Target(kind="leak", limit=0.1),
        operating=Operating(
            auroc=0.9, refusal_recall=0.8, over_refusal=0.05, answerable=50, unanswerable=50
        ),
    )
