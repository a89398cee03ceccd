"""Where the judged number lies against the threshold, as plain geometry for a drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 640
MARGIN = 24
_TICKS = 5
_LABEL_HALF_WIDTH = 96  # of the large type on small screens


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
    """Dots of labelled questions and the place of this one, in pixels.

    Attributes:
        best: The number of this question.
        threshold: Where an answer begins; None when the verdict is on another number.
    """

    left: float
    right: float
    answerable_xs: tuple[float, ...]
    unanswerable_xs: tuple[float, ...]
    best_x: float
    best: Label
    threshold_x: float | None
    threshold: Label | None
    ticks: tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class Axis:
    """A scale from its lowest number to 1, in pixels."""

    low: float
    left: float = float(MARGIN)
    right: float = float(WIDTH - MARGIN)

    def place(self, number: float) -> float:
        """Return the x of a number."""
        share = (number - self.low) / (1.0 - self.low)
        return round(self.left + share * (self.right - self.left), 1)

    def label(self, number: float) -> Label:
        """Return a number as a text that stays inside the frame."""
        x = min(
            max(self.place(number), self.left + _LABEL_HALF_WIDTH),
            self.right - _LABEL_HALF_WIDTH,
        )
        return Label(x=x, text=f"{number:.3f}")

    def ticks(self) -> tuple[Label, ...]:
        """Return the labels of the axis."""
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
    axis = Axis(min(0.0, threshold, *passages, *(() if best is None else (best,))))
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


def draw_spread(
    best: float,
    answerable: Sequence[float],
    unanswerable: Sequence[float],
    threshold: float | None = None,
) -> SpreadChart:
    """Lay out one question among labelled ones.

    Args:
        best: Its best cosine, in [-1, 1].
        answerable: Quantiles of the best cosine of answerable questions.
        unanswerable: Likewise of unanswerable ones.
        threshold: On the cosine; None when the verdict is on another number.
    """
    axis = Axis(min(0.0, best, *answerable, *unanswerable))
    return SpreadChart(
        left=axis.left,
        right=axis.right,
        answerable_xs=tuple(axis.place(cosine) for cosine in answerable),
        unanswerable_xs=tuple(axis.place(cosine) for cosine in unanswerable),
        best_x=axis.place(best),
        best=axis.label(best),
        threshold_x=None if threshold is None else axis.place(threshold),
        threshold=None if threshold is None else axis.label(threshold),
        ticks=axis.ticks(),
    )
