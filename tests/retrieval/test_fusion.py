from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.fusion import Scored, fuse, reciprocal_ranks, z_scores


def _scored(
    chunk_id: str, cosine: float, bm25: float, dense: int | None = None, sparse: int | None = None
) -> Scored:
    return Scored(chunk_id, cosine, bm25, dense, sparse)


def test_reciprocal_ranks_sum_weighted_places() -> None:
    assert reciprocal_ranks((0.7, 1), (0.3, 3), k=60) == pytest.approx(0.7 / 61 + 0.3 / 63)
    assert reciprocal_ranks((0.7, None), (0.3, 1), k=60) == pytest.approx(0.3 / 61)
    assert reciprocal_ranks((0.7, None), (0.3, None), k=60) == 0.0


def test_late_interaction_is_a_third_voice_only_where_it_has_a_number() -> None:
    plain = [_scored("a", 0.5, 2.0, 1, 1), _scored("b", 0.5, 2.0, 1, 1)]
    late = [replace(plain[0], late=3.0), replace(plain[1], late=9.0)]
    assert fuse(plain, late_weight=0.4)[0].zscore == 0.0
    assert [f.scored.chunk_id for f in fuse(late, late_weight=0.4)] == ["b", "a"]
    assert [f.scored.chunk_id for f in fuse(late, by="rrf", late_weight=0.4)] == ["b", "a"]
    assert [f.scored.chunk_id for f in fuse(late, late_weight=0.0)] == ["a", "b"]


def test_the_nearest_part_is_a_voice_of_its_own() -> None:
    plain = [_scored("a", 0.5, 2.0, 1, 1), _scored("b", 0.5, 2.0, 1, 1)]
    parts = [replace(plain[0], part_cosine=0.5), replace(plain[1], part_cosine=0.7)]
    assert fuse(plain, part_weight=0.4)[0].zscore == 0.0
    assert [f.scored.chunk_id for f in fuse(parts, part_weight=0.4)] == ["b", "a"]
    assert [f.scored.chunk_id for f in fuse(parts, by="rrf", part_weight=0.4)] == ["b", "a"]
    assert [f.scored.chunk_id for f in fuse(parts)] == ["a", "b"]


def test_zscores_have_mean_zero_and_unit_spread() -> None:
    scores = list(z_scores({"a": 1.0, "b": 2.0, "c": 6.0}).values())
    assert sum(scores) == pytest.approx(0.0)
    assert math.fsum(s * s for s in scores) / 3 == pytest.approx(1.0)


def test_numbers_without_spread_have_no_zscore() -> None:
    assert z_scores({"a": 0.3, "b": 0.3 + 1e-9}) == {"a": 0.0, "b": 0.0}
    assert z_scores({}) == {}


def test_zscore_fusion_weighs_how_much_better_not_only_which_is_first() -> None:
    candidates = [
        _scored("clear", 0.60, 20.0, 2, 1),
        _scored("near", 0.61, 2.0, 1, 3),
        _scored("other", 0.30, 3.0, 3, 2),
    ]
    assert fuse(candidates)[0].scored.chunk_id == "clear"


def test_both_values_are_kept_whatever_orders() -> None:
    candidates = [_scored("a", 0.9, 1.0, 1, 2), _scored("b", 0.5, 5.0, 2, 1)]
    by_z = {f.scored.chunk_id: (f.rrf, f.zscore) for f in fuse(candidates, by="zscore")}
    by_rank = {f.scored.chunk_id: (f.rrf, f.zscore) for f in fuse(candidates, by="rrf")}
    assert by_z == by_rank


@pytest.mark.parametrize("by", ["zscore", "rrf"])
def test_ties_are_ordered_by_chunk_id(by: str) -> None:
    same = [_scored(name, 0.5, 2.0, 1, 1) for name in "dbca"]
    fused = fuse(same, by="rrf" if by == "rrf" else "zscore")
    assert [f.scored.chunk_id for f in fused] == ["a", "b", "c", "d"]
    assert [f.rank for f in fused] == [1, 2, 3, 4]


@given(
    st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 50)), min_size=1, max_size=20),
    st.randoms(use_true_random=False),
)
def test_order_does_not_depend_on_how_candidates_came(
    numbers: list[tuple[float, float]], random: object
) -> None:
    candidates = [_scored(f"{n:03}", c, b, n + 1, n + 1) for n, (c, b) in enumerate(numbers)]
    backwards = list(reversed(candidates))
    assert [f.scored for f in fuse(candidates)] == [f.scored for f in fuse(backwards)]
