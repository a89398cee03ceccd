"""Why a chunk is among the hits of a search, or is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from retrieval.search import Filtered, SearchOutcome, Trace

Kind = Literal[
    "returned", "stale", "not_retrieved", "below_cut_off", "near_duplicate", "source_cap"
]


@dataclass(frozen=True, slots=True)
class Explanation:
    """What became of one chunk in one search.

    Attributes:
        kind: ``stale``: the build does not hold it, or not for this caller; ``not_retrieved``: no
            list brought it, or a floor dropped it; ``below_cut_off``: fused, but past the hits.
        detail: One sentence a person understands, with the numbers.
        cosine: Exact, None when the build does not hold the chunk.
        bm25: Likewise.
        dense_rank: Place in the dense list, None when not in it.
        sparse_rank: Place in the sparse list.
        fused_rank: Place after fusion.
        reranked_rank: Place after reranking.
    """

    chunk_id: str
    kind: Kind
    detail: str
    cosine: float | None = None
    bm25: float | None = None
    dense_rank: int | None = None
    sparse_rank: int | None = None
    fused_rank: int | None = None
    reranked_rank: int | None = None


def explain(
    outcome: SearchOutcome, chunk_id: str, *, cosine: float | None, bm25: float | None
) -> Explanation:
    """Return what became of a chunk.

    Args:
        outcome: Of the search.
        chunk_id: The chunk that was expected.
        cosine: Its exact cosine against the query; None when it is not in the build.
        bm25: Its exact BM25 against the query; None when it has none of the words.
    """
    trace = outcome.trace
    ranks = {
        "dense_rank": _place(chunk_id, trace.dense),
        "sparse_rank": _place(chunk_id, trace.sparse),
        "fused_rank": _place(chunk_id, trace.fused),
        "reranked_rank": _place(chunk_id, trace.reranked),
    }
    kind, detail = _reason(outcome, chunk_id, cosine, bm25)
    return Explanation(chunk_id, kind, detail, cosine, bm25, **ranks)


def _reason(
    outcome: SearchOutcome, chunk_id: str, cosine: float | None, bm25: float | None
) -> tuple[Kind, str]:
    returned = _place(chunk_id, outcome.trace.selected)
    if returned:
        return "returned", f"It is hit {returned} of {len(outcome.trace.selected)}."
    if cosine is None:
        return "stale", f"Build {outcome.manifest.build} holds no chunk of this id that is visible."
    left_out = next((f for f in outcome.filtered if f.chunk_id == chunk_id), None)
    kind, why = _left_out(left_out) if left_out else _ranked_out(outcome.trace, chunk_id)
    return kind, f"{why}; its cosine is {cosine:.3f}, its BM25 {bm25 or 0.0:.2f}."


def _left_out(left_out: Filtered) -> tuple[Kind, str]:
    if left_out.reason == "source_cap":
        return "source_cap", "Its source has given as many hits as it may"
    return "near_duplicate", (
        f"It repeats {left_out.duplicate_of}, which is shown in its place "
        f"(cosine {left_out.duplicate_cosine or 0.0:.3f} between the two)"
    )


def _ranked_out(trace: Trace, chunk_id: str) -> tuple[Kind, str]:
    place = _place(chunk_id, trace.reranked) or _place(chunk_id, trace.fused)
    if place:
        stage = "reranking" if trace.reranked else "fusion"
        shown = len(trace.selected)
        return "below_cut_off", f"It was place {place} after {stage}, and {shown} were shown"
    if any(chunk_id in brought for brought in (trace.dense, trace.sparse, trace.parts)):
        return "not_retrieved", "It was found, but is below the profile's floors"
    by_parts = f", nor among the {len(trace.parts)} by their parts" if trace.parts else ""
    return "not_retrieved", (
        f"It is neither among the {len(trace.dense)} nearest nor among the {len(trace.sparse)} "
        f"best by words{by_parts}"
    )


def _place(chunk_id: str, order: tuple[str, ...]) -> int | None:
    return order.index(chunk_id) + 1 if chunk_id in order else None
