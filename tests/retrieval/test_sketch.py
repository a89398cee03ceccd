"""Two builds are compared by small sketches of their chunk ids."""

from __future__ import annotations

import pytest

from retrieval.sketch import SKETCH_SIZE, changed_share, make_sketch


def _ids(start: int, count: int) -> list[str]:
    return [f"chunk-{at}" for at in range(start, start + count)]


def test_small_sets_are_compared_exactly() -> None:
    one, other = make_sketch(_ids(0, 90)), make_sketch(_ids(10, 90))
    assert changed_share(one, other) == pytest.approx(20 / 100)
    assert changed_share(one, one) == 0.0
    assert changed_share(one, make_sketch(_ids(500, 90))) == 1.0
    assert changed_share((), ()) == 0.0


@pytest.mark.parametrize("moved", [0, 250, 1000, 2500])
def test_large_sets_are_estimated_within_three_standard_errors(moved: int) -> None:
    one, other = make_sketch(_ids(0, 5000)), make_sketch(_ids(moved, 5000))
    similarity = (5000 - moved) / (5000 + moved)
    error = (similarity * (1 - similarity) / SKETCH_SIZE) ** 0.5
    assert changed_share(one, other) == pytest.approx(1 - similarity, abs=3 * error)


def test_sketch_does_not_depend_on_order_or_repetition() -> None:
    assert make_sketch(_ids(0, 900)) == make_sketch([*reversed(_ids(0, 900)), "chunk-3"])
    assert len(make_sketch(_ids(0, 900))) == SKETCH_SIZE
