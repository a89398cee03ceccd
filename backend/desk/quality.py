"""How refusals and support went day by day. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, timedelta
from statistics import fmean

from storage.ask_figures import AskFigures


@dataclass(frozen=True, slots=True)
class Span:
    """What the asks of a stretch of time came to.

    Attributes:
        asked: Answered and refused ones; a question that was asked back is neither.
        abstention: Share refused, in [0, 1]; None when nothing was asked.
        support: Mean of the lowest support of each answer, in [0, 1]; None without an answer.
        diverged: Share of answers written from other evidence than was judged; None without any.
    """

    asked: int
    abstention: float | None
    support: float | None
    diverged: float | None


@dataclass(frozen=True, slots=True)
class Day:
    """One day, in UTC."""

    day: date
    figures: Span


def sum_up(asks: Sequence[AskFigures]) -> Span:
    """Return what some asks came to."""
    judged = [one for one in asks if one.status in {"answered", "abstained"}]
    answered = [one for one in judged if one.status == "answered"]
    supports = [one.lowest_support for one in answered if one.lowest_support is not None]
    return Span(
        asked=len(judged),
        abstention=1 - len(answered) / len(judged) if judged else None,
        support=fmean(supports) if supports else None,
        diverged=(
            sum(one.fidelity == "diverged" for one in answered) / len(answered)
            if answered
            else None
        ),
    )


def by_day(asks: Sequence[AskFigures], last: date, days: int) -> tuple[Day, ...]:
    """Return every day of a stretch, the days without a question included.

    Args:
        asks: In any order.
        last: The newest day.
        days: How many, that one included.
    """
    of_day: dict[date, list[AskFigures]] = {}
    for ask in asks:
        of_day.setdefault(ask.created_at.astimezone(UTC).date(), []).append(ask)
    every = [last - timedelta(days=back) for back in range(days - 1, -1, -1)]
    return tuple(Day(day, sum_up(of_day.get(day, []))) for day in every)
