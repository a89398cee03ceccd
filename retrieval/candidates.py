"""From a query to the union of its lists, with every exact number of every candidate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from retrieval.chunk import DenseVector, Matrix, SparseVector
from retrieval.focus import Analyser
from retrieval.fusion import Scored
from retrieval.manifest import Manifest
from retrieval.profiles import SearchProfile
from retrieval.signals import WeighedTerm
from retrieval.sparse import Term
from retrieval.statistics import TermFrequencies
from retrieval.store import CandidateLists, Filter, Store

_RELATED_TERMS = 24


@dataclass(frozen=True, slots=True)
class Query:
    """A query as the index is asked.

    Attributes:
        dense: Shape (dimension,), float32, unit length.
        sparse: Its terms weighted by IDF.
        words: Its terms with their surface forms, for signals; empty when it is no question.
        saturation: Most that one term can weigh in a passage.
        late: Rows of late interaction, shape (n_tokens, late_dimension); None when not used.
        with_parts: Whether candidates are compared by their parts as well.
        excluded: A chunk that is not to be found: the one that others are related to.
        analyser: Reads the terms of sentences, for the focus signals; None when it is no question.
    """

    dense: DenseVector
    sparse: SparseVector
    words: tuple[WeighedTerm, ...]
    saturation: float
    late: Matrix | None = None
    with_parts: bool = False
    excluded: str = ""
    analyser: Analyser | None = None


def weigh(terms: Sequence[Term], frequencies: TermFrequencies) -> tuple[WeighedTerm, ...]:
    """Return a query's terms with their IDF over what the caller may see."""
    return tuple(
        WeighedTerm(term, frequencies.idf(term.term_id), frequencies.frequency(term.term_id) > 0)
        for term in terms
    )


def with_idf(vector: SparseVector, frequencies: TermFrequencies) -> SparseVector:
    """Return a query's sparse vector, each term multiplied by its IDF."""
    weighted = (
        value * frequencies.idf(term)
        for term, value in zip(vector.indices, vector.values, strict=True)
    )
    return SparseVector(vector.indices, tuple(weighted))


def most_telling(vector: SparseVector) -> SparseVector:
    """Keep the heaviest terms of a passage: a whole one is too long a query."""
    pairs = sorted(zip(vector.values, vector.indices, strict=True), reverse=True)[:_RELATED_TERMS]
    return SparseVector(tuple(i for _, i in pairs), tuple(v for v, _ in pairs))


def weighs_parts(manifest: Manifest, profile: SearchProfile) -> bool:
    """Return whether a search compares parts: the profile weighs them and the build has them."""
    return profile.part_weight > 0 and bool(manifest.stamp.parts)


async def find_candidates(
    store: Store, query: Query, where: Filter, limit: int
) -> tuple[CandidateLists, list[Scored]]:
    """Return the lists and their union, in chunk id order.

    What only one list brought is measured by the others' numbers as well, from the stored vectors,
    so that fusion never guesses.
    """
    wanted = limit + bool(query.excluded)
    lists = await store.candidates(
        query.dense, query.sparse, limit=wanted, where=where, with_parts=query.with_parts
    )
    dense, sparse, near = (
        {c.chunk_id: c.number for c in each if c.chunk_id != query.excluded}
        for each in (lists.dense, lists.sparse, lists.parts)
    )
    dense_rank, sparse_rank, part_rank = (_ranks(each) for each in (dense, sparse, near))
    brought = dense.keys() | sparse.keys() | near.keys()
    lacking = sorted(brought - (dense.keys() & sparse.keys()))
    measured = await store.measure(query.dense, query.sparse, lacking, where=where)
    cosines = {**measured.dense, **dense}
    bm25s = {**measured.sparse, **sparse}
    ids = sorted(brought)
    late: dict[str, float] = {}
    if query.late is not None:
        late = await store.late_interaction(query.late, ids, where=where)
    part = cosines
    if query.with_parts:
        rest = [chunk_id for chunk_id in ids if chunk_id not in near]
        part = cosines | await store.part_cosines(query.dense, rest, where=where) | near
    union = [
        Scored(
            chunk_id=chunk_id,
            cosine=_within(cosines[chunk_id]),
            bm25=bm25s.get(chunk_id, 0.0),
            dense_rank=dense_rank.get(chunk_id),
            sparse_rank=sparse_rank.get(chunk_id),
            late=late.get(chunk_id),
            # A passage without parts of its own is its only part.
            part_cosine=_within(part[chunk_id]),
            part_rank=part_rank.get(chunk_id),
        )
        for chunk_id in ids
    ]
    return lists, union


def _ranks(numbers: Mapping[str, float]) -> dict[str, int]:
    return {chunk_id: rank for rank, chunk_id in enumerate(numbers, 1)}


def _within(cosine: float) -> float:
    return max(-1.0, min(1.0, cosine))


def above_floors(
    candidates: Sequence[Scored], dense_floor: float | None, sparse_floor: float | None
) -> list[Scored]:
    """Return the candidates that some list still brings when each has its floor.

    A floor takes a candidate out of fusion only: what the guard reads is computed over all.

    Args:
        candidates: The union of both lists.
        dense_floor: Least cosine of the dense list and of that of parts; None means no floor.
        sparse_floor: Least BM25 of the sparse list; None means no floor.
    """
    if dense_floor is None and sparse_floor is None:
        return list(candidates)
    kept: list[Scored] = []
    for candidate in candidates:
        is_low = dense_floor is not None and candidate.cosine < dense_floor
        is_rare = sparse_floor is not None and candidate.bm25 < sparse_floor
        is_far = dense_floor is not None and (candidate.part_cosine or 0.0) < dense_floor
        dense_rank = None if is_low else candidate.dense_rank
        sparse_rank = None if is_rare else candidate.sparse_rank
        part_rank = None if is_far else candidate.part_rank
        if dense_rank or sparse_rank or part_rank:
            kept.append(
                replace(
                    candidate, dense_rank=dense_rank, sparse_rank=sparse_rank, part_rank=part_rank
                )
            )
    return kept
