"""How often a key and an address may ask, and what a client is told of it in headers.

The address is counted before a key is looked at, so that guessing keys is as limited as asking.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from ipaddress import IPv6Address, IPv6Network, ip_address

from backend.caller import Caller
from backend.errors import TooManyRequestsError
from service.limiter import Limiter
from service.rate import Rate, Standing

_IPV6_PREFIX_BITS = 64


class RequestRates:
    """Holds keys and addresses to their rates.

    Args:
        limiter: Counts.
        per_key: Rate of each key; None for no limit.
        per_address: Rate of each address; None for no limit.
    """

    def __init__(
        self, limiter: Limiter, *, per_key: Rate | None = None, per_address: Rate | None = None
    ) -> None:
        self._limiter = limiter
        self._per_key = per_key
        self._per_address = per_address

    async def count_address(self, address: str) -> Mapping[str, str]:
        """Count a request of an address; returns the headers that say how it stands.

        Raises:
            TooManyRequestsError: The address asks more often than it may.
        """
        return await self._count("address", network_of(address), self._per_address)

    async def count_caller(self, caller: Caller) -> Mapping[str, str]:
        """Count a request of a key, likewise; whoever has none is counted by address alone."""
        return await self._count("key", caller.name, self._per_key) if caller.has_key else {}

    async def _count(self, whose: str, name: str, rate: Rate | None) -> Mapping[str, str]:
        if rate is None:
            return {}
        standing = await self._limiter.arrive(f"{whose}:{name}", rate)
        if not standing.is_allowed:
            raise TooManyRequestsError(standing, whose)
        return rate_headers(standing, whose)


def rate_headers(standing: Standing, whose: str) -> dict[str, str]:
    """Return the ``RateLimit`` fields of the IETF draft "RateLimit header fields for HTTP"."""
    rate = standing.rate
    headers = {
        "RateLimit-Policy": f'"{whose}";q={rate.count};w={math.ceil(rate.period_seconds)}',
        "RateLimit": f'"{whose}";r={standing.remaining};t={math.ceil(standing.reset_seconds)}',
    }
    if not standing.is_allowed:
        headers["Retry-After"] = str(max(1, math.ceil(standing.retry_after_seconds)))
    return headers


def network_of(address: str) -> str:
    """Return whose address it is: of IPv6 the /64, in which one host has all the addresses."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address or "unknown"
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(IPv6Network((int(parsed), _IPV6_PREFIX_BITS), strict=False))
    return str(parsed)
