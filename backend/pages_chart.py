"""Where the judged number lies against the threshold, as plain geometry for a drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 640
MARGIN = 24
_TICKS = 5
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


def draw_verdict(
    threshold: float, best: float | None, passages: Sequence[float] = ()
) -> VerdictChart:
    """Lay out the axis, the passages, the number that was judged and the threshold.

    Args:
        threshold: On the same scale as ``best``.
        best: Best cosine in [-1, 1] or probability in [0, 1]; None when nothing was found.
        passages: Cosines of the listed passages; empty for a probability.
    """
    low = min(0.0, threshold, *passages, *(() if best is None else (best,)))
    left, right = float(MARGIN), float(WIDTH - MARGIN)

    def place(number: float) -> float:
        return round(left + (number - low) / (1.0 - low) * (right - left), 1)

    def label(number: float) -> Label:
        inside = min(max(place(number), left + _LABEL_HALF_WIDTH), right - _LABEL_HALF_WIDTH)
        return Label(x=inside, text=f"{number:.3f}")

    steps = [low + (1.0 - low) * step / _TICKS for step in range(_TICKS + 1)]
    return VerdictChart(
        left=left,
        right=right,
        threshold_x=place(threshold),
        threshold=label(threshold),
        best_x=None if best is None else place(best),
        best=None if best is None else label(best),
        passage_xs=tuple(place(cosine) for cosine in passages),
        ticks=tuple(Label(x=place(step), text=f"{step:.1f}") for step in steps),
    )
