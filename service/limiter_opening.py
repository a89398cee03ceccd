"""Which limiter a process counts with: its own, or the one it shares through Redis."""

from __future__ import annotations

from service.circuits import Circuits
from service.limiter import Limiter, LocalLimiter, SharedLimiter

REDIS = "redis"
"""Name of the circuit of Redis."""


def open_limiter(redis_url: str, circuits: Circuits) -> Limiter:
    """Return the limiter.

    Args:
        redis_url: Address of Redis; empty counts in this process alone.
        circuits: Of the process.
    """
    if not redis_url:
        return LocalLimiter()
    from service.limiter_redis import RedisLimiter  # noqa: PLC0415 - a client that few processes need

    circuit = circuits.of(REDIS, failures=1)
    return SharedLimiter(RedisLimiter(redis_url), LocalLimiter(), circuit)
