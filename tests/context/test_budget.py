from __future__ import annotations

from dataclasses import dataclass

import pytest

from context.budget import Allowance, BudgetBook
from context.errors import BudgetSpentError


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def book(clock: Clock | None = None) -> BudgetBook:
    return BudgetBook(
        per_key=Allowance(tokens=100, calls=4),
        per_run=Allowance(tokens=60, calls=2),
        clock=clock or Clock(),
    )


def test_a_result_reports_the_account_nearest_to_its_end() -> None:
    accounts = book()
    accounts.admit("ada", "run-1", 10)

    left = accounts.charge("ada", "run-1", tokens_in=10, tokens_out=5)

    assert (left.tokens_in, left.tokens_out) == (10, 5)
    assert (left.used.tokens, left.left.tokens) == (15, 45)
    assert (left.used.calls, left.left.calls) == (1, 1)


def test_a_call_over_the_tokens_left_is_refused_and_counts_nothing() -> None:
    accounts = book()
    with pytest.raises(BudgetSpentError, match="has 60 left"):
        accounts.admit("ada", "run-1", 61)

    accounts.admit("ada", "run-1", 60)

    with pytest.raises(BudgetSpentError, match="run has 0 left"):
        accounts.admit("ada", "run-1", 0)


def test_calls_run_out_by_run_and_by_caller() -> None:
    accounts = book()
    for run in ("one", "one", "two"):
        accounts.admit("ada", run, 1)
    with pytest.raises(BudgetSpentError, match="2 calls of this run"):
        accounts.admit("ada", "one", 1)
    accounts.admit("ada", "", 1)
    with pytest.raises(BudgetSpentError, match="4 calls of this caller"):
        accounts.admit("ada", "three", 1)

    accounts.admit("bob", "one", 1)


def test_a_caller_begins_anew_each_day_and_a_run_does_not() -> None:
    clock = Clock()
    accounts = book(clock)
    accounts.admit("ada", "run-1", 60)
    clock.now = 86_400.0

    accounts.admit("ada", "", 90)

    with pytest.raises(BudgetSpentError, match="run"):
        accounts.admit("ada", "run-1", 1)


def test_new_runs_never_push_the_caller_out() -> None:
    accounts = BudgetBook(
        per_key=Allowance(tokens=10, calls=100_000), per_run=Allowance(tokens=10, calls=1)
    )
    accounts.admit("ada", "", 10)
    for number in range(9000):
        accounts.charge("bob", f"run-{number}", tokens_in=0, tokens_out=0)

    with pytest.raises(BudgetSpentError, match="has 0 left"):
        accounts.admit("ada", "", 1)
