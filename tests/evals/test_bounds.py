"""Exact bounds and certified thresholds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.bounds import (
    clopper_pearson_upper,
    learn_then_test,
    needed_for,
    smallest_certifiable,
)


def test_thirty_clean_questions_certify_nine_and_a_half_percent() -> None:
    assert smallest_certifiable(30) == pytest.approx(1 - 0.05 ** (1 / 30), abs=1e-9)
    assert round(smallest_certifiable(30), 3) == 0.095


def test_five_percent_takes_fifty_nine_questions() -> None:
    assert needed_for(0.05) == 59
    assert smallest_certifiable(59) <= 0.05 < smallest_certifiable(58)


def test_bound_agrees_with_a_published_table_value() -> None:
    # One-sided 95% upper bound for 1 of 10 (Clopper and Pearson 1934): 0.394.
    assert clopper_pearson_upper(1, 10) == pytest.approx(0.394, abs=5e-4)


def test_nothing_counted_bounds_nothing() -> None:
    assert clopper_pearson_upper(0, 0) == 1.0
    assert clopper_pearson_upper(5, 5) == 1.0


@given(st.integers(1, 60), st.integers(0, 59))
def test_bound_is_above_the_observed_rate_and_grows_with_errors(n: int, errors: int) -> None:
    errors = min(errors, n - 1)
    bound = clopper_pearson_upper(errors, n)
    assert errors / n <= bound <= clopper_pearson_upper(errors + 1, n)


def test_walk_ends_at_the_first_threshold_that_leaks_too_much() -> None:
    negatives = [0.1] * 59 + [0.6]
    assert learn_then_test([0.9, 0.7, 0.5, 0.3], negatives, alpha=0.06) == 0.7
    assert learn_then_test([0.9, 0.7, 0.5, 0.3], negatives, alpha=0.09) == 0.3


def test_too_few_questions_certify_no_threshold_at_all() -> None:
    assert learn_then_test([0.9], [0.1] * 10, alpha=0.05) is None
