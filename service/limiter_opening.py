"""Which limiter a process counts with: its own, or the one it shares through Redis."""

from __future__ import annotations

from service.circuit import Circuit
from service.limiter import Limiter, LocalLimiter, SharedLimiter

REDIS = "redis"
"""Name of the circuit of Redis."""


def open_limiter(redis_url: str) -> tuple[Limiter, tuple[Circuit, ...]]:
    """Return the limiter, and the circuit of what it depends on, if anything.

    Args:
        redis_url: Address of Redis; empty counts in this process alone.
    """
    if not redis_url:
        return LocalLimiter(), ()
    from service.limiter_redis import RedisLimiter  # noqa: PLC0415 - a client that few processes need

    circuit = Circuit(REDIS, failures=1)
    return SharedLimiter(RedisLimiter(redis_url), LocalLimiter(), circuit), (circuit,)
