"""Every candidate of a recorded search, with its place after each stage: a table of the trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from knowledge.contracts import SearchResult, StageOrder
from storage.asks import JsonObject

Fate = Literal["selected", "near_duplicate", "source_cap", "below_cut_off", "below_floor"]


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """One candidate.

    Attributes:
        heading: Of its section; empty when the record does not hold the passage.
        dense: Place in the list by cosine, from 1; None when not in it.
        sparse: Likewise by BM25.
        fused: Place after fusion.
        reranked: Place after reranking.
        selected: Place among the hits.
        fate: What became of it.
    """

    chunk_id: str
    heading: str
    dense: int | None
    sparse: int | None
    fused: int | None
    reranked: int | None
    selected: int | None
    fate: Fate


@dataclass(frozen=True, slots=True)
class CandidateTable:
    """The candidates of one search, best first.

    Attributes:
        cut_at: Longer lists were kept up to this many ids; None when none was longer.
    """

    rows: tuple[CandidateRow, ...]
    cut_at: int | None


def candidate_table(part: JsonObject) -> CandidateTable:
    """Return the candidates of one recorded search; none of a record older than their keeping.

    Args:
        part: One entry of the record's searches.
    """
    stages = StageOrder.model_validate(part.get("stages") or {})
    search = SearchResult.model_validate(part["search"])
    places = {
        name: {chunk_id: place for place, chunk_id in enumerate(ids, start=1)}
        for name, ids in (
            ("dense", stages.dense),
            ("sparse", stages.sparse),
            ("fused", stages.fused),
            ("reranked", stages.reranked),
            ("selected", stages.selected),
        )
    }
    left_out: Mapping[str, Fate] = {each.chunk_id: each.reason for each in search.filtered}
    headings = {hit.chunk_id: hit.section_heading or hit.title for hit in search.hits}
    return CandidateTable(
        tuple(
            CandidateRow(
                chunk_id=chunk_id,
                heading=headings.get(chunk_id, ""),
                fate=_fate(chunk_id, places, left_out),
                **{name: ranks.get(chunk_id) for name, ranks in places.items()},
            )
            for chunk_id in _in_order(stages)
        ),
        stages.cut_at,
    )


def _in_order(stages: StageOrder) -> Sequence[str]:
    """Return each id once: by the last order that has it, then those only a list has."""
    orders = (stages.selected, stages.reranked, stages.fused, stages.dense, stages.sparse)
    return tuple(dict.fromkeys(chunk_id for ids in orders for chunk_id in ids))


def _fate(
    chunk_id: str, places: Mapping[str, Mapping[str, int]], left_out: Mapping[str, Fate]
) -> Fate:
    if chunk_id in places["selected"]:
        return "selected"
    if chunk_id in left_out:
        return left_out[chunk_id]
    return "below_cut_off" if chunk_id in places["fused"] else "below_floor"
