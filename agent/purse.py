"""Who pays for the model calls of an ask, by shape."""

from __future__ import annotations

from typing import Protocol


class Reservation(Protocol):
    """Tokens set aside for one call."""

    async def settle(self, tokens: int) -> None:
        """Say how many were spent; never raises."""
        ...


class TokenPurse(Protocol):
    """Whoever pays for the model calls of one ask."""

    async def reserve(self, tokens: int) -> Reservation:
        """Set tokens aside for one call.

        Raises:
            DailyTokensSpentError: Too few are left today.
            BudgetUnavailableError: Nobody can say how many are left.
        """
        ...


class NothingReserved:
    """The reservation of a purse that nobody counts."""

    async def settle(self, tokens: int) -> None:
        """Do nothing."""
        del tokens


class OpenPurse:
    """A purse that nobody counts."""

    async def reserve(self, tokens: int) -> Reservation:
        """Set nothing aside."""
        del tokens
        return NothingReserved()


OPEN_PURSE = OpenPurse()
