"""The operating point: where a threshold lies, and what it does to each kind of question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evals.observations import Observation

SHORT_LIMIT = 0.05
LONG_LIMIT = 0.08

AIM = 0.8
"""Share of a limit that a threshold is chosen for: questions it was not chosen on are refused a
little more often than those it was."""

Probability = Callable[[Observation], float]


@dataclass(frozen=True, slots=True)
class Limits:
    """Largest share of answerable questions that may be refused, by kind, in [0, 1)."""

    short: float = SHORT_LIMIT
    long: float = LONG_LIMIT


@dataclass(frozen=True, slots=True)
class Judged:
    """One question with its number and what became of it.

    Attributes:
        number: Probability, or cosine in fixed mode.
    """

    observation: Observation
    number: float
    is_refused: bool


def threshold_for(
    observations: Sequence[Observation], number_of: Probability, limits: Limits
) -> float:
    """Return the strictest threshold that refuses no more of each kind than it aims at.

    It lies half-way between the last number refused and the first one kept, so that it does not
    rest on one question's exact value.

    Args:
        observations: Of which the answerable ones are looked at.
        number_of: Probability or cosine of a question.
        limits: By kind.
    """
    places: list[float] = []
    for kind, limit in (("short", limits.short), ("long", limits.long)):
        numbers = sorted(number_of(one) for one in observations if one.kind == kind)
        if numbers:
            refused = int(AIM * limit * len(numbers) + 1e-9)
            below = numbers[refused - 1] if refused else numbers[0]
            places.append((below + numbers[refused]) / 2)
    return min(places)


def judged(
    observations: Sequence[Observation], number_of: Probability, threshold: float
) -> tuple[Judged, ...]:
    """Return what a threshold does; a number exactly at it passes."""
    return tuple(
        Judged(one, number, number < threshold)
        for one in observations
        for number in (number_of(one),)
    )


def refused_share(found: Sequence[Judged]) -> float | None:
    """Return the share refused, None of nothing."""
    return sum(one.is_refused for one in found) / len(found) if found else None


def share_by_band(found: Sequence[Judged]) -> dict[str, float]:
    """Return the share refused in each band; answerable questions' bands are their kinds."""
    bands = dict.fromkeys(one.observation.band for one in found)
    return {
        band: sum(one.is_refused for one in found if one.observation.band == band)
        / sum(one.observation.band == band for one in found)
        for band in bands
    }
