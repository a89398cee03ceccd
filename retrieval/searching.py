"""One search, stage by stage, on one open build."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from retrieval.candidates import Query, above_floors, find_candidates
from retrieval.catalog import OpenedBuild
from retrieval.errors import RerankError
from retrieval.focus import FOCUS_PASSAGES, Analyser, focus
from retrieval.fusion import Fused, Scored, fuse
from retrieval.near_duplicates import Selection, cap_sources, remove_near_duplicates
from retrieval.own_text import NOTHING_EARNED, by_bm25, by_cosine, is_lifted
from retrieval.profiles import SearchProfile
from retrieval.rerank import Rerankers
from retrieval.search import Hit, SearchOutcome, SearchRequest, SearchSignals, Trace
from retrieval.signals import HEAD_SIZE, compute_signals, sparse_per_term
from retrieval.store import Filter, Store, StoredPoint

_log = logging.getLogger(__name__)
_SPARE_HITS = 8


class _Reader:
    """Points read once each, as the stages come to need them."""

    def __init__(self, store: Store, where: Filter) -> None:
        self._store = store
        self._where = where
        self.points: dict[str, StoredPoint] = {}

    async def read(self, chunk_ids: Sequence[str]) -> None:
        """Make sure that these points are at hand, vectors included."""
        lacking = [chunk_id for chunk_id in dict.fromkeys(chunk_ids) if chunk_id not in self.points]
        if lacking:
            self.points |= await self._store.read(lacking, where=self._where, with_vectors=True)

    def terms(self, chunk_ids: Sequence[str]) -> dict[str, frozenset[int]]:
        """Return the term ids of points that are at hand."""
        found = {chunk_id: self.points[chunk_id].sparse for chunk_id in chunk_ids}
        return {c: frozenset(sparse.indices) for c, sparse in found.items() if sparse is not None}


@dataclass(frozen=True, slots=True)
class _Order:
    """Candidates in their order so far.

    Attributes:
        logits: Of those that were reranked; empty when none were.
        degraded: Names of stages that fell back.
    """

    chunk_ids: tuple[str, ...]
    logits: Mapping[str, float] = field(default_factory=dict[str, float])
    degraded: tuple[str, ...] = ()


async def run_search(
    opened: OpenedBuild,
    query: Query,
    request: SearchRequest,
    profile: SearchProfile,
    rerankers: Rerankers,
) -> SearchOutcome:
    """Find candidates, fuse them, thin them out, and take the guard's signals.

    Args:
        opened: The build.
        query: What the index is asked.
        request: What the caller asked for.
        profile: How to search.
        rerankers: Where the profile's reranker is found, if it has one.
    """
    where = request.where
    lists, candidates = await find_candidates(opened.store, query, where, profile.candidates)
    fused = _fuse(candidates, profile)
    fused_ids = tuple(each.scored.chunk_id for each in fused)
    best = min(candidates, key=lambda c: (-c.cosine, c.chunk_id), default=None)
    best_id = best.chunk_id if best is not None else ""
    reader = _Reader(opened.store, where)
    order = await _rerank(fused_ids, reader, request.query, profile, rerankers)
    most = profile.most_hits(request.top_k)
    selection = await _select(order.chunk_ids, reader, most, profile, best_id)
    chosen = _including(selection.selected[:most], best_id)
    guarded = fused_ids[:HEAD_SIZE]
    await reader.read([*guarded, *chosen])
    scored = {c.chunk_id: c for c in candidates}
    places = {each.scored.chunk_id: each for each in fused}
    return SearchOutcome(
        query=request.query,
        hits=tuple(
            _hit(
                scored[chunk_id],
                places.get(chunk_id),
                reader.points[chunk_id],
                query,
                last_rank=len(fused) + 1,
                rerank_logit=order.logits.get(chunk_id),
            )
            for chunk_id in chosen
        ),
        signals=await _with_own_text(
            compute_signals(
                candidates,
                query.words,
                reader.terms(guarded),
                returned=reader.terms(chosen),
                saturation=query.saturation,
            ),
            query,
            request.query,
            head=guarded[:FOCUS_PASSAGES],
            candidates=candidates,
            reader=reader,
        ),
        manifest=opened.manifest,
        filtered=selection.filtered,
        trace=Trace(
            dense=tuple(c.chunk_id for c in lists.dense),
            sparse=tuple(c.chunk_id for c in lists.sparse),
            fused=fused_ids,
            reranked=order.chunk_ids if order.logits else (),
            selected=chosen,
            parts=tuple(c.chunk_id for c in lists.parts),
            part_cosines=_near_parts([scored[chunk_id] for chunk_id in chosen], query),
        ),
        degraded=(*_lacking(query, profile), *order.degraded),
    )


async def _with_own_text(
    signals: SearchSignals,
    query: Query,
    question: str,
    *,
    head: Sequence[str],
    candidates: Sequence[Scored],
    reader: _Reader,
) -> SearchSignals:
    """Add the signals that read passages without their headers."""
    if query.analyser is None:
        return signals
    weights = {word.term.term_id: word.idf for word in query.words}
    passages = [reader.points[chunk_id].chunk.text for chunk_id in head]
    found = focus(question, passages, weights, query.analyser)
    more = {"focus": found.coverage, "value_focus": found.value_coverage}
    if candidates:
        more |= await _own_numbers(candidates, query, weights, query.analyser, reader)
    return replace(signals, more=signals.more | more)


async def _own_numbers(
    candidates: Sequence[Scored],
    query: Query,
    weights: Mapping[int, float],
    analyser: Analyser,
    reader: _Reader,
) -> dict[str, float]:
    """Return the best numbers of passages that their header did not lift."""
    closest = await _first_own(by_cosine(candidates), weights, analyser, reader)
    wordiest = await _first_own(by_bm25(candidates), weights, analyser, reader)
    earned = [wordiest] if wordiest else []
    return {
        "own_cosine": float(closest.cosine) if closest else NOTHING_EARNED,
        "own_sparse_per_term": sparse_per_term(earned, query.words, query.saturation),
    }


async def _first_own(
    ordered: Sequence[Scored],
    weights: Mapping[int, float],
    analyser: Analyser,
    reader: _Reader,
) -> Scored | None:
    for place, each in enumerate(ordered):
        if each.chunk_id not in reader.points:
            await reader.read([near.chunk_id for near in ordered[place : place + HEAD_SIZE]])
        stored = reader.points.get(each.chunk_id)
        if stored is not None and not is_lifted(stored.chunk, weights, analyser):
            return each
    return None


def _near_parts(chosen: Sequence[Scored], query: Query) -> dict[str, float]:
    if not query.with_parts:
        return {}
    return {c.chunk_id: c.part_cosine for c in chosen if c.part_cosine is not None}


def _lacking(query: Query, profile: SearchProfile) -> tuple[str, ...]:
    """Say when a build was made without the parts that the profile weighs."""
    return ("parts_missing",) if profile.part_weight > 0 and not query.with_parts else ()


def _fuse(candidates: Sequence[Scored], profile: SearchProfile) -> list[Fused]:
    return fuse(
        above_floors(candidates, profile.dense_floor_cosine, profile.sparse_floor),
        by=profile.fusion,
        dense_weight=profile.dense_weight,
        sparse_weight=profile.sparse_weight,
        late_weight=profile.late_weight,
        part_weight=profile.part_weight,
        rrf_k=profile.rrf_k,
    )


async def _rerank(
    fused: tuple[str, ...],
    reader: _Reader,
    query: str,
    profile: SearchProfile,
    rerankers: Rerankers,
) -> _Order:
    """Reorder the head; when that fails, keep the fused order and say so."""
    if profile.reranker is None or not fused:
        return _Order(fused)
    head = fused[: profile.reranker.candidates]
    await reader.read(head)
    passages = [reader.points[chunk_id].chunk.text_for_embedding for chunk_id in head]
    try:
        numbers = await rerankers.of(profile.reranker).rerank(query, passages)
    except RerankError as error:
        _log.warning("the fused order stands: %s", error)
        return _Order(fused, degraded=(error.code,))
    logits = dict(zip(head, numbers, strict=True))
    place = {chunk_id: rank for rank, chunk_id in enumerate(head)}
    ordered = sorted(head, key=lambda chunk_id: (-logits[chunk_id], place[chunk_id]))
    return _Order((*ordered, *fused[len(head) :]), logits)


async def _select(
    order: Sequence[str], reader: _Reader, top_k: int, profile: SearchProfile, best_id: str
) -> Selection:
    """Remove near duplicates and cap sources, reading no more of the order than that needs."""
    size = top_k + _SPARE_HITS
    while True:
        head = list(order[:size])
        if best_id and best_id not in head:
            head.append(best_id)
        await reader.read(head)
        selection = _thin_out([c for c in head if c in reader.points], reader, profile, best_id)
        if len(selection.selected) >= top_k or size >= len(order):
            return selection
        size *= 2


def _thin_out(
    head: Sequence[str], reader: _Reader, profile: SearchProfile, best_id: str
) -> Selection:
    vectors = {c: v for c in head if (v := reader.points[c].dense) is not None}
    distinct = remove_near_duplicates(
        head, vectors, threshold_cosine=profile.near_duplicate_cosine, protected=best_id
    )
    sources = {c: reader.points[c].chunk.occurrences[0].source for c in distinct.selected}
    capped = cap_sources(distinct.selected, sources, most=profile.source_cap, protected=best_id)
    return Selection(capped.selected, distinct.filtered + capped.filtered)


def _including(chosen: Sequence[str], best_id: str) -> tuple[str, ...]:
    """Return the hits with the chunk of the best cosine in the last place if it was not there."""
    if not best_id or best_id in chosen:
        return tuple(chosen)
    return (*chosen[:-1], best_id)


def _hit(
    scored: Scored,
    place: Fused | None,
    stored: StoredPoint,
    query: Query,
    *,
    last_rank: int,
    rerank_logit: float | None,
) -> Hit:
    terms = frozenset(stored.sparse.indices) if stored.sparse is not None else frozenset[int]()
    matched = (word.term.surface for word in query.words if word.term.term_id in terms)
    return Hit(
        chunk=stored.chunk,
        occurrence=stored.chunk.occurrences[0],
        cosine=scored.cosine,
        dense_rank=scored.dense_rank,
        sparse_rank=scored.sparse_rank,
        sparse_bm25=scored.bm25,
        rrf=place.rrf if place else None,
        zscore=place.zscore if place else None,
        part_cosine=scored.part_cosine if query.with_parts else None,
        fused_rank=place.rank if place else last_rank,
        rerank_logit=rerank_logit,
        matched_terms=tuple(dict.fromkeys(matched)),
    )
