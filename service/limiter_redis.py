"""The shared limiter in Redis: one script, so that many processes count into one number."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from service.limiter import LimiterDownError
from service.rate import Rate, Standing

_PREFIX = "vouch:rate:"
_DEADLINE_SECONDS = 0.5
_MOST_CONNECTIONS = 16
# The arithmetic of ``service.rate.arrive`` on the server's own clock. Numbers go back as text,
# because the protocol would cut a fraction off.
_SCRIPT = """
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1e6
local interval = tonumber(ARGV[1])
local period = tonumber(ARGV[2])
local begun = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now)
local after = begun + interval
local early = after - period - now
if early > 1e-6 then
  return {'0', string.format('%.6f', begun - now), string.format('%.6f', early)}
end
redis.call('SET', KEYS[1], string.format('%.6f', after), 'PX', math.ceil((after - now) * 1000))
local left = math.floor((period - (after - now)) / interval + 1e-6)
return {tostring(left), string.format('%.6f', after - now), '0'}
"""


class RedisLimiter:
    """Counts in Redis, under a deadline far below that of a request.

    Args:
        url: ``redis://host:port/db`` or ``rediss://``, with a password if there is one.
        deadline_seconds: Longest one call may take, connecting included.
    """

    def __init__(self, url: str, *, deadline_seconds: float = _DEADLINE_SECONDS) -> None:
        self._deadline_seconds = deadline_seconds
        open_pool = cast("Callable[..., BlockingConnectionPool]", BlockingConnectionPool.from_url)  # pyright: ignore[reportUnknownMemberType] - its arguments have no types
        pool = open_pool(
            url,
            decode_responses=True,
            socket_timeout=deadline_seconds,
            socket_connect_timeout=deadline_seconds,
            max_connections=_MOST_CONNECTIONS,
            timeout=deadline_seconds,
            # A second attempt would only come later; the circuit decides when to try again.
            retry=Retry(NoBackoff(), 0),
        )
        self._client = Redis.from_pool(pool)
        self._script = self._client.register_script(_SCRIPT)

    async def arrive(self, key: str, rate: Rate) -> Standing:
        """Count one arrival; see ``Limiter``."""
        arguments = [repr(rate.interval_seconds), repr(rate.period_seconds)]
        try:
            async with asyncio.timeout(self._deadline_seconds):
                reply: object = await self._script(keys=[_PREFIX + key], args=arguments)
            remaining, reset, early = cast("list[str]", reply)
            return Standing(rate, int(remaining), float(reset), float(early), is_shared=True)
        except TimeoutError as error:
            raise LimiterDownError("Redis did not answer in time") from error
        except (RedisError, OSError, ValueError, TypeError) as error:
            # The message of a connection error names the address and never the password.
            raise LimiterDownError(f"Redis cannot count: {type(error).__name__}") from error

    async def ping(self) -> None:
        """Do nothing when Redis answers.

        Raises:
            LimiterDownError: It does not.
        """
        await self.arrive("ping", Rate(1_000_000))

    async def close(self) -> None:
        """Close connections."""
        await self._client.aclose()
