"""A circuit breaker: stops calling what keeps failing, and looks again after a rest.

Closed, calls pass. After so many failures in a row it is open and calls are refused at once, so
that nobody waits for a deadline that will not be met. After a rest it is half open: one call goes
through as a trial, and its outcome closes the circuit or opens it again.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Literal

from service.errors import VouchError

CircuitState = Literal["closed", "half_open", "open"]

_FAILURES = 5
_REST_SECONDS = 10.0


class CircuitOpenError(VouchError):
    """A call was not made, because the last ones failed.

    Attributes:
        retry_after_seconds: Until the next trial.
    """

    code = "circuit_open"

    def __init__(self, name: str, *, retry_after_seconds: float) -> None:
        super().__init__(
            f"{name} failed again and again and is left alone for {retry_after_seconds:.0f} s"
        )
        self.retry_after_seconds = retry_after_seconds


class Circuit:
    """The breaker of one outside service, in one process. Safe to use from several threads.

    Args:
        name: Of the service, for people and metrics.
        failures: In a row, that open it.
        rest_seconds: How long it stays open.
        clock: Returns monotonic time in seconds.
    """

    def __init__(
        self,
        name: str,
        *,
        failures: int = _FAILURES,
        rest_seconds: float = _REST_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self._most_failures = failures
        self._rest_seconds = rest_seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._opened_at = 0.0
        self._is_tried = False

    @property
    def state(self) -> CircuitState:
        """Its state now."""
        with self._lock:
            return self._state()

    @property
    def retry_after_seconds(self) -> float:
        """Until a call may go through; zero when one may."""
        with self._lock:
            if self._failures < self._most_failures:
                return 0.0
            return max(0.0, self._opened_at + self._rest_seconds - self._clock())

    @contextmanager
    def guard(
        self,
        *failures: type[Exception],
        besides: type[Exception] | tuple[type[Exception], ...] = (),
        slow_seconds: float = math.inf,
    ) -> Generator[None]:
        """Run one call; only errors of these kinds count as failures of the service.

        A call that ends in any other error reached the service, which counts as a success. One that
        is given up says nothing about it, unless it had waited long.

        Args:
            failures: Kinds of error that count.
            besides: Kinds among them that do not.
            slow_seconds: A call given up after so long counts as failed.

        Raises:
            CircuitOpenError: The call is not made.
        """
        is_trial = self._admit()
        started = self._clock()
        try:
            yield
        except besides:
            self._note_success()
            raise
        except failures:
            self._note_failure()
            raise
        except Exception:
            self._note_success()
            raise
        except BaseException:
            if self._clock() - started >= slow_seconds:
                self._note_failure()
            elif is_trial:
                self._give_back_trial()
            raise
        else:
            self._note_success()

    def _state(self) -> CircuitState:
        if self._failures < self._most_failures:
            return "closed"
        is_resting = self._clock() < self._opened_at + self._rest_seconds
        return "open" if is_resting else "half_open"

    def _admit(self) -> bool:
        """Let a call through or refuse it; says whether it is the trial."""
        with self._lock:
            state = self._state()
            if state == "closed":
                return False
            if state == "half_open" and not self._is_tried:
                self._is_tried = True
                return True
            left = max(0.0, self._opened_at + self._rest_seconds - self._clock())
        raise CircuitOpenError(self.name, retry_after_seconds=left or 1.0)

    def _note_failure(self) -> None:
        with self._lock:
            self._failures += 1
            self._is_tried = False
            if self._failures >= self._most_failures:
                self._opened_at = self._clock()

    def _note_success(self) -> None:
        with self._lock:
            self._failures = 0
            self._is_tried = False

    def _give_back_trial(self) -> None:
        with self._lock:
            self._is_tried = False
