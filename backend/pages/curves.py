"""Shares over a threshold and over days, as plain geometry for a drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backend.desk.quality import Day
from backend.desk.what_if import Rates
from backend.pages.chart import MARGIN, WIDTH, Axis, Label

_BOTTOM = 170.0
_HEIGHT = 140.0
_DAY_LABELS = 5
_BAR_SHARE = 0.6


@dataclass(frozen=True, slots=True)
class RatesChart:
    """Two curves over the threshold as points of polylines, and the threshold looked at."""

    left: float
    right: float
    leak: str
    over_refusal: str
    threshold_x: float
    threshold: Label
    ticks: tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """The questions of one day."""

    x: float
    y: float
    width: float
    height: float
    title: str


@dataclass(frozen=True, slots=True)
class DaysChart:
    """Questions, refusals and support by day.

    Attributes:
        abstention: Points of a polyline over the days with a question.
        support: Likewise over the days with an answer.
        dots: Centre of every point of both, so that a single day shows.
        most: Questions of the busiest day, which the highest bar stands for.
    """

    left: float
    right: float
    bars: tuple[Bar, ...]
    abstention: str
    support: str
    dots: tuple[tuple[str, float, float], ...]
    ticks: tuple[Label, ...]
    most: int


def draw_rates(points: Sequence[Rates], threshold: float) -> RatesChart:
    """Lay out mistakes over the threshold, from 0 to 1.

    Args:
        points: In order of their thresholds.
        threshold: The one looked at, in [0, 1].
    """
    axis = Axis(0.0)

    return RatesChart(
        left=axis.left,
        right=axis.right,
        leak=_line([(axis.place(point.threshold), point.leak) for point in points]),
        over_refusal=_line([(axis.place(point.threshold), point.over_refusal) for point in points]),
        threshold_x=axis.place(threshold),
        threshold=axis.label(threshold),
        ticks=axis.ticks(),
    )


def draw_days(days: Sequence[Day]) -> DaysChart:
    """Lay out the days of a stretch.

    Args:
        days: At least one, oldest first.
    """
    left, right = float(MARGIN), float(WIDTH - MARGIN)
    step = (right - left) / len(days)
    most = max((day.figures.asked for day in days), default=0) or 1
    xs = [round(left + step * (place + 0.5), 1) for place in range(len(days))]
    abstention = [(x, day.figures.abstention) for x, day in zip(xs, days, strict=True)]
    support = [(x, day.figures.support) for x, day in zip(xs, days, strict=True)]
    spaced = range(len(days) - 1, -1, -max(1, len(days) // _DAY_LABELS))
    return DaysChart(
        left=left,
        right=right,
        bars=tuple(_bar(x, day, step, most) for x, day in zip(xs, days, strict=True)),
        abstention=_line(abstention),
        support=_line(support),
        dots=tuple(
            (name, x, round(_BOTTOM - share * _HEIGHT, 1))
            for name, points in (("leak", abstention), ("over", support))
            for x, share in points
            if share is not None
        ),
        ticks=tuple(Label(x=xs[place], text=days[place].day.isoformat()[5:]) for place in spaced),
        most=most,
    )


def _bar(x: float, day: Day, step: float, most: int) -> Bar:
    height = round(day.figures.asked / most * _HEIGHT, 1)
    width = round(step * _BAR_SHARE, 1)
    return Bar(
        x=round(x - width / 2, 1),
        y=round(_BOTTOM - height, 1),
        width=width,
        height=height,
        title=f"{day.day.isoformat()}: {day.figures.asked}",
    )


def _line(points: Sequence[tuple[float, float | None]]) -> str:
    """Return points of a polyline; a share of 1 is at the top."""
    return " ".join(f"{x},{_BOTTOM - y * _HEIGHT:.1f}" for x, y in points if y is not None)
