from __future__ import annotations

import math

import pytest

from retrieval.access import Access
from retrieval.statistics import TermCounter, TermStatistics
from tests.retrieval.corpus import SPARSE, chunk, place, points


def _term(word: str) -> int:
    return SPARSE.embed_query(word).indices[0]


def _statistics() -> TermStatistics:
    counter = TermCounter()
    counter.add(
        points(
            [
                chunk("a", "alpha beta beta"),
                chunk("b", "alpha gamma"),
                chunk("c", "delta", place(labels=("staff",))),
                chunk("d", "epsilon", place(labels=("staff",)), place("sales")),
            ]
        )
    )
    return counter.result()


def test_frequencies_count_passages_not_occurrences() -> None:
    everyone = _statistics().visible(())
    assert everyone.chunks == 3
    assert everyone.frequency(_term("alpha")) == 2
    assert everyone.frequency(_term("beta")) == 1
    assert everyone.frequency(_term("epsilon")) == 1


def test_hidden_passages_do_not_show_in_frequencies() -> None:
    statistics = _statistics()
    assert statistics.visible(()).frequency(_term("delta")) == 0
    assert statistics.visible(("staff",)).frequency(_term("delta")) == 1
    assert statistics.visible((), all_labels=True).chunks == 4


def test_idf_is_largest_for_a_word_never_seen() -> None:
    frequencies = _statistics().visible(("staff",))
    assert frequencies.idf(_term("alpha")) == pytest.approx(math.log(1 + 2.5 / 2.5))
    assert frequencies.idf(_term("zeta")) == pytest.approx(math.log(1 + 4.5 / 0.5))


def test_statistics_survive_storage() -> None:
    before = _statistics()
    after = TermStatistics.from_bytes(before.to_bytes())
    assert after.accesses == before.accesses
    assert after.accesses == {
        Access("guide"),
        Access("guide", ("staff",)),
        Access("sales"),
    }
    for word in ("alpha", "beta", "delta", "zeta"):
        assert after.visible(()).idf(_term(word)) == before.visible(()).idf(_term(word))
