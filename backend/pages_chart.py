"""Where the best cosine lies against the threshold, as plain geometry for a drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 640
MARGIN = 24
_TICKS = 5
_LABEL_HALF_WIDTH = 46


@dataclass(frozen=True, slots=True)
class Label:
    """A text of the drawing and the x it is centred on, kept inside the frame."""

    x: float
    text: str


@dataclass(frozen=True, slots=True)
class CosineChart:
    """Positions in pixels of a drawing that is ``WIDTH`` wide.

    Attributes:
        threshold_x: None when the threshold is not on the cosine.
        best_x: None when nothing was found.
        passage_xs: One for each passage.
        ticks: Axis labels.
    """

    left: float
    right: float
    threshold_x: float | None
    threshold_label: Label | None
    best_x: float | None
    best_label: Label | None
    passage_xs: tuple[float, ...]
    ticks: tuple[Label, ...]


def draw_cosines(
    best_cosine: float | None, cosines: Sequence[float], threshold: float | None
) -> CosineChart:
    """Lay out the axis, the passages, the best of them and the threshold.

    Args:
        best_cosine: Of the search, in [-1, 1]; None when nothing was found.
        cosines: Of the listed passages, in [-1, 1].
        threshold: On the cosine; None when the verdict rests on a probability.
    """
    shown = [*cosines, *(number for number in (best_cosine, threshold) if number is not None)]
    low = min(0.0, *shown) if shown else 0.0
    left, right = float(MARGIN), float(WIDTH - MARGIN)

    def place(cosine: float) -> float:
        return round(left + (cosine - low) / (1.0 - low) * (right - left), 1)

    def mark(cosine: float | None) -> tuple[float | None, Label | None]:
        if cosine is None:
            return None, None
        x = place(cosine)
        inside = min(max(x, left + _LABEL_HALF_WIDTH), right - _LABEL_HALF_WIDTH)
        return x, Label(x=inside, text=f"{cosine:.3f}")

    threshold_x, threshold_label = mark(threshold)
    best_x, best_label = mark(best_cosine)
    steps = [low + (1.0 - low) * step / _TICKS for step in range(_TICKS + 1)]
    return CosineChart(
        left=left,
        right=right,
        threshold_x=threshold_x,
        threshold_label=threshold_label,
        best_x=best_x,
        best_label=best_label,
        passage_xs=tuple(place(cosine) for cosine in cosines),
        ticks=tuple(Label(x=place(step), text=f"{step:.1f}") for step in steps),
    )
