"""A circuit breaker over a clock that the test moves."""

from __future__ import annotations

import asyncio

import pytest

from service.circuit import Circuit, CircuitOpenError


class DownError(Exception):
    pass


class Rig:
    def __init__(self) -> None:
        self.now = 0.0
        self.circuit = Circuit("it", failures=2, rest_seconds=10, clock=lambda: self.now)

    def fail(self) -> None:
        with pytest.raises(DownError), self.circuit.guard(DownError):
            raise DownError

    def succeed(self) -> None:
        with self.circuit.guard(DownError):
            pass


def test_it_opens_after_failures_in_a_row_and_refuses_at_once() -> None:
    rig = Rig()
    rig.fail()
    rig.succeed()
    rig.fail()
    assert rig.circuit.state == "closed"
    rig.fail()
    assert rig.circuit.state == "open"
    rig.now = 4.0
    with pytest.raises(CircuitOpenError) as refused:
        rig.succeed()
    assert refused.value.retry_after_seconds == 6.0


def test_one_trial_after_the_rest_closes_it_or_opens_it_again() -> None:
    rig = Rig()
    rig.fail()
    rig.fail()
    rig.now = 10.0
    assert rig.circuit.state == "half_open"
    rig.fail()
    assert rig.circuit.state == "open"
    rig.now = 20.0
    with rig.circuit.guard(DownError), pytest.raises(CircuitOpenError):
        rig.succeed()
    assert rig.circuit.state == "closed"


def test_an_error_of_another_kind_is_no_failure_of_the_service() -> None:
    rig = Rig()
    rig.fail()
    with pytest.raises(ValueError, match="ours"), rig.circuit.guard(DownError):
        raise ValueError("ours")
    rig.fail()
    assert rig.circuit.state == "closed"


def test_a_cancelled_trial_says_nothing_and_leaves_room_for_the_next() -> None:
    rig = Rig()
    rig.fail()
    rig.fail()
    rig.now = 10.0
    with pytest.raises(asyncio.CancelledError), rig.circuit.guard(DownError):
        raise asyncio.CancelledError
    assert rig.circuit.state == "half_open"
    rig.succeed()
    assert rig.circuit.state == "closed"


def test_an_error_that_the_service_answers_on_purpose_does_not_count() -> None:
    class RefusedError(DownError):
        pass

    rig = Rig()
    for _ in range(3):
        with pytest.raises(RefusedError), rig.circuit.guard(DownError, besides=RefusedError):
            raise RefusedError
    assert rig.circuit.state == "closed"


def test_a_call_given_up_after_long_counts_as_failed() -> None:
    rig = Rig()

    def give_up() -> None:
        with rig.circuit.guard(DownError, slow_seconds=5):
            rig.now += 6
            raise asyncio.CancelledError

    for _ in range(2):
        with pytest.raises(asyncio.CancelledError):
            give_up()
    assert rig.circuit.state == "open"
