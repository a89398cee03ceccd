from __future__ import annotations

import pytest

from retrieval.near_duplicates import cap_sources, remove_near_duplicates
from tests.retrieval.corpus import vector
from tests.retrieval.fakes import at_cosine

_AXIS = vector(1)
_VECTORS = {
    "first": _AXIS,
    "copy": at_cosine(_AXIS, 0.97, 2),
    "edge": at_cosine(_AXIS, 0.9001, 3),
    "other": at_cosine(_AXIS, 0.5, 4),
}


def test_the_better_of_two_near_duplicates_stays_and_the_other_is_accounted_for() -> None:
    selection = remove_near_duplicates(
        ["first", "copy", "other", "edge"], _VECTORS, threshold_cosine=0.9
    )
    assert selection.selected == ("first", "other")
    left_out = {f.chunk_id: (f.reason, f.duplicate_of) for f in selection.filtered}
    assert left_out == {
        "copy": ("near_duplicate", "first"),
        "edge": ("near_duplicate", "first"),
    }
    assert selection.filtered[0].duplicate_cosine == pytest.approx(0.97, abs=1e-4)


def test_a_protected_chunk_takes_the_place_of_the_one_it_repeats() -> None:
    selection = remove_near_duplicates(
        ["first", "other", "copy"], _VECTORS, threshold_cosine=0.9, protected="copy"
    )
    assert selection.selected == ("copy", "other")
    assert selection.filtered[0].chunk_id == "first"
    assert selection.filtered[0].duplicate_of == "copy"


def test_a_threshold_above_one_turns_the_removal_off() -> None:
    order = ["first", "copy", "edge", "other"]
    assert remove_near_duplicates(order, _VECTORS, threshold_cosine=2.0).selected == tuple(order)


def test_a_source_gives_no_more_than_its_cap() -> None:
    sources = {"a1": "a", "a2": "a", "a3": "a", "b1": "b"}
    selection = cap_sources(["a1", "a2", "a3", "b1"], sources, most=2)
    assert selection.selected == ("a1", "a2", "b1")
    assert [(f.chunk_id, f.reason) for f in selection.filtered] == [("a3", "source_cap")]


def test_the_cap_spares_the_protected_chunk_and_zero_means_none() -> None:
    sources = {"a1": "a", "a2": "a", "a3": "a"}
    assert cap_sources(["a1", "a2", "a3"], sources, most=1, protected="a3").selected == ("a1", "a3")
    assert cap_sources(["a1", "a2", "a3"], sources, most=0).selected == ("a1", "a2", "a3")
