"""How often something may happen: the generic cell rate algorithm, as pure arithmetic.

One number a key is all there is to keep: the moment at which the key will have paid for everything
it did (its theoretical arrival time). The Redis script in ``limiter_redis.py`` is the same
arithmetic, run where several processes see one number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

MINUTE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Rate:
    """So many times in a period, in one burst or spread out.

    Attributes:
        count: Times, at least one.
        period_seconds: In which they may happen, above zero.
    """

    count: int
    period_seconds: float = MINUTE_SECONDS

    @property
    def interval_seconds(self) -> float:
        """Time after which one more may happen."""
        return self.period_seconds / self.count


@dataclass(frozen=True, slots=True)
class Standing:
    """How one key stands against its rate.

    Attributes:
        rate: The rate it is held to.
        remaining: Times left at once.
        reset_seconds: Until all of them are back.
        retry_after_seconds: Until the next one; zero when it may happen now.
        is_shared: Whether other processes count into the same number.
    """

    rate: Rate
    remaining: int
    reset_seconds: float
    retry_after_seconds: float = 0.0
    is_shared: bool = False

    @property
    def is_allowed(self) -> bool:
        """Whether it may happen now."""
        return self.retry_after_seconds <= 0.0


def arrive(paid_until: float, now: float, rate: Rate) -> tuple[float, Standing]:
    """Count one arrival; returns the new moment to keep and how the key stands.

    A refused arrival costs nothing: whoever waits as told is served.

    Args:
        paid_until: What was kept for the key; anything in the past for none.
        now: In seconds on the same clock.
        rate: The rate it is held to.
    """
    interval = rate.interval_seconds
    begun = max(paid_until, now)
    after = begun + interval
    early = after - rate.period_seconds - now
    # A billionth is far below a clock's step and far above what floating point loses here.
    if early > 1e-9:  # noqa: PLR2004 - explained above
        return begun, Standing(rate, 0, begun - now, retry_after_seconds=early)
    remaining = math.floor((rate.period_seconds - (after - now)) / interval + 1e-9)
    return after, Standing(rate, remaining, after - now)
