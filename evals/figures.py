"""Plots as SVG text: the only file that knows matplotlib.

Every plot repeats byte for byte: no date, fixed hash salt, text kept as text.
"""

# pyright: reportUnknownMemberType=false
# matplotlib types its arguments only in part; what comes back is text.
from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from evals.bootstrap import Interval
from evals.curves import CurvePoint

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SIZE_INCHES = (6.0, 3.4)
_COLOURS = ("#2463a8", "#c8553d", "#3c8d5a", "#8a5fa8", "#b58900")


def bars(values: Mapping[str, Mapping[str, Interval]], *, title: str) -> str:
    """Return grouped bars with their intervals.

    Args:
        values: Series name (a profile) to measure name to figure.
        title: Above the plot.
    """

    def draw(axes: Axes) -> None:
        names = list(next(iter(values.values())))
        width = 0.8 / len(values)
        for place, (series, figures) in enumerate(values.items()):
            at = [index + place * width for index in range(len(names))]
            heights = [figures[name].value for name in names]
            below = [max(0.0, figures[name].value - figures[name].low) for name in names]
            above = [max(0.0, figures[name].high - figures[name].value) for name in names]
            axes.bar(at, heights, width, label=series, color=_colour(place))
            axes.errorbar(at, heights, yerr=[below, above], fmt="none", ecolor="black", capsize=2)
        centre = (len(values) - 1) * width / 2
        axes.set_xticks([index + centre for index in range(len(names))], names)
        axes.set_ylim(0.0, 1.05)

    return _svg(draw, title=title)


def lines(
    curves: Mapping[str, Sequence[CurvePoint]],
    *,
    title: str,
    x: str,
    y: str,
    diagonal: bool = False,
) -> str:
    """Return curves over [0, 1], one line each.

    Args:
        curves: Name to points.
        title: Above the plot.
        x: Name of the horizontal axis.
        y: Name of the vertical axis.
        diagonal: Draw the line of perfect reliability.
    """

    def draw(axes: Axes) -> None:
        for place, (name, points) in enumerate(curves.items()):
            axes.plot(
                [point.x for point in points],
                [point.y for point in points],
                label=name,
                color=_colour(place),
                marker="o" if diagonal else None,
            )
        if diagonal:
            axes.plot([0, 1], [0, 1], color="grey", linestyle="--", linewidth=1)
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        axes.set_xlim(0.0, 1.0)
        axes.set_ylim(0.0, 1.0 if diagonal else None)

    return _svg(draw, title=title)


def strips(
    groups: Mapping[str, Sequence[float]], *, title: str, x: str, threshold: float | None
) -> str:
    """Return every question as a dot on its group's line, with the threshold.

    Args:
        groups: Group name to numbers.
        title: Above the plot.
        x: Name of the horizontal axis.
        threshold: Drawn as a vertical line; None draws none.
    """

    def draw(axes: Axes) -> None:
        for place, (_, numbers) in enumerate(groups.items()):
            # A fixed zigzag keeps equal numbers apart without a random generator.
            height = [place + 0.08 * (index % 5 - 2) for index in range(len(numbers))]
            axes.scatter(numbers, height, s=14, alpha=0.7, color=_colour(place))
        if threshold is not None:
            axes.axvline(threshold, color="black", linestyle="--", linewidth=1)
        axes.set_yticks(range(len(groups)), list(groups))
        axes.set_xlabel(x)

    return _svg(draw, title=title, legend=False)


def _colour(place: int) -> str:
    return _COLOURS[place % len(_COLOURS)]


def _svg(draw: Callable[[Axes], None], *, title: str, legend: bool = True) -> str:
    import matplotlib as mpl  # noqa: PLC0415 - half a second of import, only where plots are made
    from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    with mpl.rc_context({"svg.hashsalt": "vouch", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=_SIZE_INCHES, layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.add_subplot()
        draw(axes)
        axes.set_title(title)
        if legend and axes.get_legend_handles_labels()[0]:
            axes.legend(frameon=False)
        axes.spines[["top", "right"]].set_visible(False)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()
