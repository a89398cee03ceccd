"""How many tokens and calls each caller, and each run of a caller, may still spend.

Kept in the process: a restart begins anew, and each process of several counts for itself.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from context.contract import Budget, Spending
from context.errors import BudgetSpentError

_MOST_ACCOUNTS = 8192
_DAY_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class Allowance:
    """What one account may spend."""

    tokens: int
    calls: int


@dataclass(slots=True)
class _Account:
    opened_at: float
    tokens: int = 0
    calls: int = 0


class BudgetBook:
    """The accounts of callers, which are opened anew each day, and of their runs, which are not.

    Args:
        per_key: Of one caller in a day.
        per_run: Of one run of a caller.
        clock: Returns monotonic time in seconds.
    """

    def __init__(
        self,
        *,
        per_key: Allowance,
        per_run: Allowance,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._per_key = per_key
        self._per_run = per_run
        self._clock = clock
        self._accounts: OrderedDict[tuple[str, str], _Account] = OrderedDict()

    def admit(self, key: str, run: str, tokens_in: int) -> None:
        """Count a call and the tokens that go into it.

        Args:
            key: The caller.
            run: The caller's run; empty for none.
            tokens_in: Tokens of the call's texts.

        Raises:
            BudgetSpentError: The caller or the run has not enough left; nothing is counted.
        """
        held = self._held(key, run)
        for name, account, allowance in held:
            if account.calls >= allowance.calls:
                raise BudgetSpentError(f"the {allowance.calls} calls of this {name} are used up")
            left = allowance.tokens - account.tokens
            if tokens_in > left or left <= 0:
                raise BudgetSpentError(
                    f"the call has {tokens_in} tokens; this {name} has {max(0, left)} left "
                    f"of {allowance.tokens}"
                )
        for _, account, _ in held:
            account.calls += 1
            account.tokens += tokens_in

    def charge(self, key: str, run: str, *, tokens_in: int, tokens_out: int) -> Budget:
        """Count the tokens of a result; returns the account that is nearest to its end."""
        held = self._held(key, run)
        for _, account, _ in held:
            account.tokens += tokens_out
        _, account, allowance = min(held, key=lambda each: each[2].tokens - each[1].tokens)
        return Budget(
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            used=Spending(tokens=account.tokens, calls=account.calls),
            left=Spending(
                tokens=max(0, allowance.tokens - account.tokens),
                calls=max(0, min(a.calls - each.calls for _, each, a in held)),
            ),
        )

    def _held(self, key: str, run: str) -> list[tuple[str, _Account, Allowance]]:
        held = [("caller", self._account(key, ""), self._per_key)]
        if run:
            held.append(("run", self._account(key, run), self._per_run))
        return held

    def _account(self, key: str, run: str) -> _Account:
        name = (key, run)
        now = self._clock()
        account = self._accounts.setdefault(name, _Account(now))
        if not run and now - account.opened_at >= _DAY_SECONDS:
            account = self._accounts[name] = _Account(now)
        self._accounts.move_to_end(name)
        if len(self._accounts) > _MOST_ACCOUNTS:
            self._forget_oldest_run()
        return account

    def _forget_oldest_run(self) -> None:
        """A caller who names a new run each time must not push callers out."""
        oldest = next((name for name in self._accounts if name[1]), next(iter(self._accounts)))
        del self._accounts[oldest]
