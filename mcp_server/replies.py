"""From what the engine returns to what travels: pure functions, one for each result."""

from __future__ import annotations

from pydantic import Field

from context.contract import FittedEvidence
from knowledge.contracts import (
    Explanation,
    FilteredHit,
    IndexInfo,
    SearchHit,
    SearchResult,
    SearchTrace,
    Section,
    SectionPage,
    Signals,
    Source,
    StageOrder,
)
from knowledge.packing import FittedPassage, FittedPassages, StageEntry, Stretch
from retrieval.explain import Explanation as Explained
from retrieval.manifest import Manifest
from retrieval.search import Hit, SearchOutcome, SectionOutcome, SourceOutcome, Trace

# Ids of each list that the guard, and so the record of its ask, is given at most: twice the usual
# fifty candidates of both lists together.
_MOST_STAGED = 200


class StagedResult(SearchResult):
    """A search as the guard is given it: what anyone gets, and the order after every stage.

    The order is no part of the structured content; it travels as metadata of the reply.
    """

    stages: StageOrder = Field(exclude=True)


def index_info(manifest: Manifest, visible_chunks: int | None = None) -> IndexInfo:
    """Return which index a build is, as far as a caller may know.

    Args:
        manifest: Of the build.
        visible_chunks: How many of its chunks the caller may see; None: all. Who may not see all is
            told neither how many there are nor the digest over them.
    """
    sees_all = visible_chunks is None or visible_chunks == manifest.chunks
    return IndexInfo(
        build=manifest.build,
        embedding_model=manifest.stamp.embedding_model,
        dimension=manifest.stamp.dimension,
        profile=manifest.profile,
        header_format=manifest.stamp.header_format,
        chunker=manifest.stamp.chunker,
        chunks=manifest.chunks if visible_chunks is None else visible_chunks,
        model_digest=manifest.stamp.model_digest,
        content_digest=manifest.content_digest if sees_all else "",
    )


def search_result(outcome: SearchOutcome) -> SearchResult:
    """Return a search as it travels."""
    return SearchResult(
        query=outcome.query,
        hits=tuple(_search_hit(hit) for hit in outcome.hits),
        signals=_signals(outcome),
        index=index_info(outcome.manifest, outcome.visible_chunks),
        filtered=tuple(
            FilteredHit(
                chunk_id=left_out.chunk_id,
                reason=left_out.reason,
                duplicate_of=left_out.duplicate_of,
                duplicate_cosine=_bounded_or_none(left_out.duplicate_cosine),
            )
            for left_out in outcome.filtered
        ),
        degraded=outcome.degraded,
    )


def staged_result(outcome: SearchOutcome) -> StagedResult:
    """Return a search as the guard is given it."""
    plain = search_result(outcome)
    return StagedResult(**dict(plain), stages=stage_order(outcome.trace, most=_MOST_STAGED))


def stage_order(trace: Trace, *, most: int | None = None) -> StageOrder:
    """Return the order after every stage.

    Args:
        trace: Of the search.
        most: Ids of each list at most; None keeps every one.
    """
    orders = {
        "dense": trace.dense,
        "sparse": trace.sparse,
        "parts": trace.parts,
        "fused": trace.fused,
        "reranked": trace.reranked,
        "selected": trace.selected,
    }
    is_cut = most is not None and any(len(ids) > most for ids in orders.values())
    return StageOrder(
        **{stage: ids[:most] for stage, ids in orders.items()},
        part_cosines={c: bounded(cosine) for c, cosine in trace.part_cosines.items()},
        cut_at=most if is_cut else None,
    )


def search_trace(outcome: SearchOutcome, explained: Explained | None = None) -> SearchTrace:
    """Return a search with the order after every stage.

    Args:
        outcome: Of the search.
        explained: What became of the chunk that was asked about; None when none was.
    """
    return SearchTrace(
        result=search_result(outcome),
        stages=stage_order(outcome.trace),
        explanation=_explanation(explained) if explained else None,
    )


def source_text(outcome: SourceOutcome) -> Source:
    """Return a stored chunk as it travels."""
    chunk, place = outcome.chunk, outcome.occurrence
    return Source(
        chunk_id=chunk.chunk_id,
        text=chunk.text,
        source=place.source,
        source_url=place.source_url,
        title=place.title,
        section_heading=place.section_heading,
        parent_heading=place.parent_heading,
        position=place.position,
        previous_chunk_id=place.previous_chunk_id,
        next_chunk_id=place.next_chunk_id,
        metadata=dict(chunk.metadata),
        build=outcome.manifest.build,
    )


def section_page(outcome: SectionOutcome) -> SectionPage:
    """Return a page of the section tree as it travels."""
    return SectionPage(
        sections=tuple(
            Section(
                source=entry.source,
                title=entry.title,
                parent_heading=entry.parent_heading,
                section_heading=entry.section_heading,
                source_url=entry.source_url,
                chunks=entry.chunks,
                first_chunk_id=entry.first_chunk_id,
            )
            for entry in outcome.sections
        ),
        sources=outcome.sources,
        next_cursor=outcome.next_cursor,
        index=index_info(outcome.manifest, outcome.visible_chunks),
    )


def bounded(cosine: float) -> float:
    """Return a cosine without the last digits by which float32 arithmetic leaves [-1, 1]."""
    return max(-1.0, min(1.0, float(cosine)))


def _bounded_or_none(cosine: float | None) -> float | None:
    return None if cosine is None else bounded(cosine)


def _explanation(explained: Explained) -> Explanation:
    return Explanation(
        chunk_id=explained.chunk_id,
        kind=explained.kind,
        detail=explained.detail,
        cosine=_bounded_or_none(explained.cosine),
        bm25=explained.bm25,
        dense_rank=explained.dense_rank,
        sparse_rank=explained.sparse_rank,
        fused_rank=explained.fused_rank,
        reranked_rank=explained.reranked_rank,
    )


def _search_hit(hit: Hit) -> SearchHit:
    chunk, place = hit.chunk, hit.occurrence
    return SearchHit(
        chunk_id=chunk.chunk_id,
        text=chunk.text,
        source=place.source,
        source_url=place.source_url,
        title=place.title,
        section_heading=place.section_heading,
        parent_heading=place.parent_heading,
        position=place.position,
        metadata=dict(chunk.metadata),
        cosine=bounded(hit.cosine),
        fused_rank=hit.fused_rank,
        rrf=hit.rrf,
        zscore=hit.zscore,
        dense_rank=hit.dense_rank,
        sparse_rank=hit.sparse_rank,
        sparse_bm25=hit.sparse_bm25,
        rerank_logit=hit.rerank_logit,
        matched_terms=hit.matched_terms,
    )


def _signals(outcome: SearchOutcome) -> Signals:
    signals = outcome.signals
    return Signals(
        best_cosine=_bounded_or_none(signals.best_cosine),
        cosine_margin=signals.cosine_margin,
        sparse_per_term=signals.sparse_per_term,
        term_coverage=signals.term_coverage,
        unknown_terms=signals.unknown_terms,
        hit_count=signals.hit_count,
        more=signals.more,
        missing_terms=signals.missing_terms,
    )


def fitted_passages(fitted: FittedEvidence, *, build: str) -> FittedPassages:
    """Return packed evidence as it travels: without the texts of what was left out."""
    return FittedPassages(
        passages=tuple(
            FittedPassage(
                chunk_id=each.id,
                text=each.text,
                kept=tuple(Stretch(start=span.start, end=span.end) for span in each.kept),
            )
            for each in fitted.passages
        ),
        repeats=tuple(
            FilteredHit(
                chunk_id=fitted.passages[each.index].id,
                reason="near_duplicate",
                duplicate_of=str(each.duplicate_of),
                duplicate_cosine=bounded(each.cosine),
            )
            for each in fitted.filtered
        ),
        stages=tuple(
            StageEntry(
                stage=each.stage,
                passages=each.passages,
                tokens=each.tokens,
                saved_tokens=each.saved_tokens,
                dropped=each.dropped,
            )
            for each in fitted.ledger
            if each.stage != "rerank"
        ),
        origin_tokens=fitted.origin_tokens,
        tokens=fitted.tokens,
        build=build,
    )
