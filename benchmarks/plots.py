"""Curves over sizes as SVG text, both axes logarithmic; the same values give the same bytes."""

# pyright: reportUnknownMemberType=false
# matplotlib types its arguments only in part; what comes back is text.
from __future__ import annotations

import io
from collections.abc import Mapping, Sequence

_SIZE_INCHES = (6.0, 3.4)


def curves(
    series: Mapping[str, Sequence[tuple[float, float]]], *, title: str, x: str, y: str
) -> str:
    """Return one line for every series.

    Args:
        series: Name to points.
        title: Above the plot.
        x: Name of the horizontal axis.
        y: Name of the vertical axis.
    """
    import matplotlib as mpl  # noqa: PLC0415 - half a second of import, only where plots are made
    from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    with mpl.rc_context({"svg.hashsalt": "vouch", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=_SIZE_INCHES, layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.add_subplot()
        for name, points in series.items():
            axes.loglog([p[0] for p in points], [p[1] for p in points], marker="o", label=name)
        axes.set(title=title, xlabel=x, ylabel=y)
        axes.legend(frameon=False, fontsize=7)
        axes.spines[["top", "right"]].set_visible(False)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()
