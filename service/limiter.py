"""Counts what each key does against its rate, in this process or in one that others share."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol

from service.circuit import Circuit, CircuitOpenError
from service.errors import VouchError
from service.logs import get_logger
from service.rate import Rate, Standing, arrive

_MOST_KEYS = 16_384

_log = get_logger(__name__)


class LimiterDownError(VouchError):
    """The shared limiter cannot be reached or did not answer in time."""

    code = "limiter_down"


class Limiter(Protocol):
    """Counts arrivals."""

    async def arrive(self, key: str, rate: Rate) -> Standing:
        """Count one arrival of a key, unless it is over its rate; says how the key stands.

        Raises:
            LimiterDownError: Nobody can say.
        """
        ...

    async def close(self) -> None:
        """Close connections."""
        ...


class LocalLimiter:
    """Counts in this process; forgets the keys seen longest ago.

    Args:
        clock: Returns monotonic time in seconds.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._paid_until: OrderedDict[str, float] = OrderedDict()

    async def arrive(self, key: str, rate: Rate) -> Standing:
        """Count one arrival; see ``Limiter``."""
        now = self._clock()
        after, standing = arrive(self._paid_until.get(key, now), now, rate)
        self._paid_until[key] = after
        self._paid_until.move_to_end(key)
        if len(self._paid_until) > _MOST_KEYS:
            self._paid_until.popitem(last=False)
        return standing

    async def close(self) -> None:
        """Nothing is held beyond memory."""


class SharedLimiter:
    """Counts in a shared limiter, and in this process for as long as that one is down.

    The limits then hold for each process instead of for all together: looser, never absent, and
    said wherever the state of the process is shown.

    Args:
        shared: The limiter that other processes count into.
        local: Counts while it is down.
        circuit: Keeps calls away from a limiter that is down.
    """

    def __init__(self, shared: Limiter, local: Limiter, circuit: Circuit) -> None:
        self._shared = shared
        self._local = local
        self._circuit = circuit

    async def arrive(self, key: str, rate: Rate) -> Standing:
        """Count one arrival; never raises."""
        try:
            with self._circuit.guard(LimiterDownError):
                return await self._shared.arrive(key, rate)
        except CircuitOpenError:
            return await self._local.arrive(key, rate)
        except LimiterDownError as error:
            _log.warning("limits are counted in this process alone", detail=str(error))
            return await self._local.arrive(key, rate)

    async def close(self) -> None:
        """Close both."""
        await self._shared.close()
        await self._local.close()
