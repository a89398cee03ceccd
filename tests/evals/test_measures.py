"""Measures of a ranking against values worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from evals.bootstrap import interval
from evals.measures import Ranked, f1_of_means, measure

PERFECT = Ranked("q1", ("a", "b", "c", "d"), frozenset({"a", "b"}))
SECOND = Ranked("q2", ("x", "a", "y", "z"), frozenset({"a"}))
LATE = Ranked("q3", ("x", "y", "z", "a"), frozenset({"a"}))
NOTHING = Ranked("q4", (), frozenset({"a"}))


def test_precision_recall_and_f1_of_the_averages() -> None:
    measured = measure([PERFECT, SECOND], k=3)
    assert measured.precision.tolist() == pytest.approx([2 / 3, 1 / 3])
    assert measured.recall.tolist() == [1.0, 1.0]
    assert f1_of_means(measured.precision, measured.recall) == pytest.approx(2 / 3)


def test_reciprocal_rank_is_cut_at_k() -> None:
    measured = measure([SECOND, LATE, NOTHING], k=3)
    assert measured.reciprocal_rank.tolist() == [0.5, 0.0, 0.0]
    assert measured.hit.tolist() == [1.0, 0.0, 0.0]


def test_pass_at_n_is_the_share_of_the_labelled_sections() -> None:
    ranking = tuple("abcdefghij")
    half = Ranked("q", ranking, frozenset({"c", "h"}))
    measured = measure([half], k=3)
    assert measured.pass_at[5].tolist() == [0.5]
    assert measured.pass_at[10].tolist() == [1.0]


def test_ndcg_rewards_the_better_order_and_counts_an_empty_ranking_as_zero() -> None:
    measured = measure([PERFECT, SECOND, NOTHING], k=3)
    assert measured.ndcg_at_10.tolist() == pytest.approx([1.0, 1 / np.log2(3), 0.0])


def test_f1_of_nothing_found_is_zero() -> None:
    measured = measure([NOTHING], k=3)
    assert f1_of_means(measured.precision, measured.recall) == 0.0


def test_interval_holds_the_figure_and_repeats_exactly() -> None:
    values = np.array([0.0, 1.0, 1.0, 1.0, 0.0, 1.0])
    first = interval(lambda rows: float(values[rows].mean()), 6)
    assert first.low <= first.value <= first.high
    assert first.low < first.high
    assert first == interval(lambda rows: float(values[rows].mean()), 6)
