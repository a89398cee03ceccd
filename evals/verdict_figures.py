"""Plots of verdicts, shared by the reports of abstention and of calibration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evals.curves import reliability, risk_coverage
from evals.figures import lines, strips
from evals.operating import Judged


def risk_plot(verdicts: Mapping[str, Sequence[Judged]]) -> str:
    """Return risk over coverage, one line for each way to judge."""
    return lines(
        {name: risk_coverage(*_numbers(found)) for name, found in verdicts.items()},
        title="Risk over coverage",
        x="share of questions answered",
        y="share of the answered that are unanswerable",
    )


def reliability_plot(verdicts: Sequence[Judged]) -> str:
    """Return the reliability diagram of probabilities."""
    points = reliability(
        [one.number for one in verdicts], [one.observation.is_answerable for one in verdicts]
    )
    return lines(
        {"verdicts": points},
        title="Reliability",
        x="probability of being answerable",
        y="share that is",
        diagonal=True,
    )


def band_plot(verdicts: Sequence[Judged], threshold: float, *, x: str) -> str:
    """Return every question as a dot on its band's line."""
    bands = dict.fromkeys(one.observation.band for one in verdicts)
    return strips(
        {
            band.replace("_", " "): [one.number for one in verdicts if one.observation.band == band]
            for band in bands
        },
        title="Each question by band",
        x=x,
        threshold=threshold,
    )


def _numbers(found: Sequence[Judged]) -> tuple[list[float], list[float]]:
    return (
        [one.number for one in found if one.observation.is_answerable],
        [one.number for one in found if not one.observation.is_answerable],
    )
