"""Where the judged number lies against the threshold, as plain geometry for a drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backend.desk.what_if import Rates

WIDTH = 640
MARGIN = 24
_TICKS = 5
_RATES_BOTTOM = 170.0
_RATES_HEIGHT = 140.0
_LABEL_HALF_WIDTH = 60


@dataclass(frozen=True, slots=True)
class Label:
    """A text of the drawing and the x it is centred on, kept inside the frame."""

    x: float
    text: str


@dataclass(frozen=True, slots=True)
class VerdictChart:
    """Positions in pixels of a drawing that is ``WIDTH`` wide.

    Attributes:
        threshold: Where an answer begins, with its number.
        best: What was compared with it, with its number; None when nothing was found.
        passage_xs: One for each passage; empty when the verdict is on a probability.
        ticks: Axis labels.
    """

    left: float
    right: float
    threshold_x: float
    threshold: Label
    best_x: float | None
    best: Label | None
    passage_xs: tuple[float, ...]
    ticks: tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class SpreadChart:
    """Dots of labelled questions and the place of this one, in pixels."""

    left: float
    right: float
    answerable_xs: tuple[float, ...]
    unanswerable_xs: tuple[float, ...]
    best_x: float
    ticks: tuple[Label, ...]


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
class _Axis:
    """A scale from its lowest number to 1."""

    low: float
    left: float = float(MARGIN)
    right: float = float(WIDTH - MARGIN)

    def place(self, number: float) -> float:
        share = (number - self.low) / (1.0 - self.low)
        return round(self.left + share * (self.right - self.left), 1)

    def label(self, number: float) -> Label:
        x = min(
            max(self.place(number), self.left + _LABEL_HALF_WIDTH),
            self.right - _LABEL_HALF_WIDTH,
        )
        return Label(x=x, text=f"{number:.3f}")

    def ticks(self) -> tuple[Label, ...]:
        steps = [self.low + (1.0 - self.low) * step / _TICKS for step in range(_TICKS + 1)]
        return tuple(Label(x=self.place(step), text=f"{step:.1f}") for step in steps)


def draw_verdict(
    threshold: float, best: float | None, passages: Sequence[float] = ()
) -> VerdictChart:
    """Lay out the axis, the passages, the number that was judged and the threshold.

    Args:
        threshold: On the same scale as ``best``.
        best: Best cosine in [-1, 1] or probability in [0, 1]; None when nothing was found.
        passages: Cosines of the listed passages; empty for a probability.
    """
    axis = _Axis(min(0.0, threshold, *passages, *(() if best is None else (best,))))
    return VerdictChart(
        left=axis.left,
        right=axis.right,
        threshold_x=axis.place(threshold),
        threshold=axis.label(threshold),
        best_x=None if best is None else axis.place(best),
        best=None if best is None else axis.label(best),
        passage_xs=tuple(axis.place(cosine) for cosine in passages),
        ticks=axis.ticks(),
    )


def draw_rates(points: Sequence[Rates], threshold: float) -> RatesChart:
    """Lay out mistakes over the threshold, from 0 to 1.

    Args:
        points: In order of their thresholds.
        threshold: The one looked at, in [0, 1].
    """
    axis = _Axis(0.0)

    def line(pairs: Sequence[tuple[float, float | None]]) -> str:
        return " ".join(
            f"{axis.place(x)},{_RATES_BOTTOM - y * _RATES_HEIGHT:.1f}"
            for x, y in pairs
            if y is not None
        )

    return RatesChart(
        left=axis.left,
        right=axis.right,
        leak=line([(point.threshold, point.leak) for point in points]),
        over_refusal=line([(point.threshold, point.over_refusal) for point in points]),
        threshold_x=axis.place(threshold),
        threshold=axis.label(threshold),
        ticks=axis.ticks(),
    )


def draw_spread(
    best: float, answerable: Sequence[float], unanswerable: Sequence[float]
) -> SpreadChart:
    """Lay out one question among labelled ones.

    Args:
        best: Its best cosine, in [-1, 1].
        answerable: Quantiles of the best cosine of answerable questions.
        unanswerable: Likewise of unanswerable ones.
    """
    axis = _Axis(min(0.0, best, *answerable, *unanswerable))
    return SpreadChart(
        left=axis.left,
        right=axis.right,
        answerable_xs=tuple(axis.place(cosine) for cosine in answerable),
        unanswerable_xs=tuple(axis.place(cosine) for cosine in unanswerable),
        best_x=axis.place(best),
        ticks=axis.ticks(),
    )
