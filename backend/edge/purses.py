"""The daily token budgets: of each key, and of everybody together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta

from prometheus_client import CollectorRegistry, Counter, Gauge

from agent.errors import BudgetUnavailableError, DailyTokensSpentError
from agent.purse import Reservation
from backend.caller import Caller
from service.logs import get_logger
from storage.columns import utc_now
from storage.errors import StorageError
from storage.spending import Account, SpendingStore

EVERYBODY = "all"
UNRECORDED = "tokens_unrecorded"

_logger = get_logger(__name__)


class TokenMetrics:
    """What is counted of budgets.

    Args:
        registry: Of the process.
        daily_tokens: Budget of everybody together; zero for none.
    """

    def __init__(self, registry: CollectorRegistry, daily_tokens: int) -> None:
        self.settled = Counter(
            "vouch_model_tokens", "Model tokens spent by asks.", registry=registry
        )
        self.refused = Counter(
            "vouch_token_budget_refusals", "Model calls refused for a daily budget, by whose.",
            ("budget",), registry=registry,
        )  # fmt: skip
        self.unrecorded = Counter(
            "vouch_model_tokens_unrecorded", "Tokens whose record the database did not take.",
            registry=registry,
        )  # fmt: skip
        Gauge(
            "vouch_daily_token_budget", "Model tokens a UTC day for everybody; zero: no budget.",
            registry=registry,
        ).set(daily_tokens)  # fmt: skip


class Purses:
    """Makes the purse of each ask.

    Args:
        store: Keeps the accounts.
        metrics: Counts.
        daily_tokens: Budget of everybody together; zero for none.
        clock: Returns the present moment in UTC.
    """

    def __init__(
        self,
        store: SpendingStore,
        metrics: TokenMetrics,
        *,
        daily_tokens: int = 0,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._store = store
        self._metrics = metrics
        self._daily_tokens = daily_tokens
        self._clock = clock

    def open(self, caller: Caller) -> Purse:
        """Return the purse of one ask of a caller."""
        accounts = (
            Account(caller.name, caller.daily_tokens),
            Account(EVERYBODY, self._daily_tokens),
        )
        return Purse(self._store, accounts, self._metrics, self._clock)


class Purse:
    """Pays for the model calls of one ask; implements ``TokenPurse``.

    Args:
        store: Keeps the accounts.
        accounts: Who pays.
        metrics: Counts.
        clock: Returns the present moment in UTC.
    """

    def __init__(
        self,
        store: SpendingStore,
        accounts: Sequence[Account],
        metrics: TokenMetrics,
        clock: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._accounts = accounts
        self._limited = [one for one in accounts if one.limit]
        self._metrics = metrics
        self._clock = clock
        self.fallen: tuple[str, ...] = ()

    async def require(self) -> None:
        """Do nothing while something is left of every budget.

        Raises:
            DailyTokensSpentError: One is spent.
            BudgetUnavailableError: Nobody can say.
        """
        if not self._limited:
            return
        now = self._clock()
        try:
            found = await self._store.on(now.date())
        except StorageError as error:
            raise BudgetUnavailableError("the token budget cannot be read") from error
        for account in self._limited:
            record = found.get(account.name)
            if record is not None and record.spent + record.reserved >= account.limit:
                raise self._refuse(account, now)

    async def reserve(self, tokens: int) -> Reservation:
        """Set tokens aside for one call; see ``TokenPurse``."""
        now = self._clock()
        if not self._limited:
            return _Reserved(self, now.date(), 0)
        try:
            short = await self._store.reserve(now.date(), self._accounts, tokens)
        except StorageError as error:
            raise BudgetUnavailableError("the token budget cannot be written") from error
        if short is not None:
            raise self._refuse(short, now)
        return _Reserved(self, now.date(), tokens)

    async def settle(self, day: date, reserved: int, spent: int) -> None:
        """Put what was spent in the place of what was reserved; never raises."""
        self._metrics.settled.inc(spent)
        if not (reserved or spent):
            return
        try:
            await self._store.settle(day, self._accounts, reserved=reserved, spent=spent)
        except StorageError as error:
            self.fallen = (UNRECORDED,)
            self._metrics.unrecorded.inc(spent)
            _logger.warning("spent tokens cannot be recorded", tokens=spent, detail=str(error))

    def _refuse(self, account: Account, now: datetime) -> DailyTokensSpentError:
        whose = "installation" if account.name == EVERYBODY else "key"
        self._metrics.refused.labels(whose).inc()
        resets_at = datetime.combine(now.date() + timedelta(days=1), time(), UTC)
        return DailyTokensSpentError(
            f"the daily budget of this {whose} has too few model tokens left; "
            f"it starts anew at {resets_at:%Y-%m-%dT%H:%M:%SZ}",
            resets_at=resets_at,
            retry_after_seconds=max(1, -(-(resets_at - now) // timedelta(seconds=1))),
        )


class _Reserved:
    """Tokens of one purse set aside for one call."""

    def __init__(self, purse: Purse, day: date, tokens: int) -> None:
        self._purse = purse
        self._day = day
        self._tokens = tokens

    async def settle(self, tokens: int) -> None:
        await self._purse.settle(self._day, self._tokens, tokens)
