"""When a calibration is of no use: too few questions, classes that overlap, a useless threshold."""

from __future__ import annotations

from collections.abc import Sequence

from evals.bounds import needed_for, smallest_certifiable
from evals.crossvalidation import cross_validate
from evals.errors import CalibrationRefusedError
from evals.observations import Observation
from evals.operating import Judged, Limits, refused_share

LEAST_QUESTIONS = 20
"""Of each class; half of them fit, half certify."""

LEAST_AUROC = 0.8
"""Below it no threshold is of use: the classes overlap too much."""

MOST_OVER_REFUSAL = 0.5
"""A threshold that refuses more answerable questions than this is not written down."""

_BLOCKERS = 5


def require_numbers(observations: Sequence[Observation]) -> None:
    """Refuse sets too small to be split in two."""
    positives = sum(one.is_answerable for one in observations)
    negatives = len(observations) - positives
    if min(positives, negatives) < LEAST_QUESTIONS:
        raise CalibrationRefusedError(
            f"{positives} answerable and {negatives} unanswerable questions are too few: at least "
            f"{LEAST_QUESTIONS} of each are needed, one half to fit and one to certify; "
            "`vouch negatives` makes unanswerable ones from the index itself"
        )


def require_certifiable(certifying: Sequence[Observation], limit: float) -> None:
    """Refuse a leak target that so few questions cannot certify."""
    n = sum(not one.is_answerable for one in certifying)
    smallest = smallest_certifiable(n)
    if smallest > limit:
        raise CalibrationRefusedError(
            f"{n} unanswerable questions in the certifying half can certify a leak rate of "
            f"{smallest:.1%} at best; {limit:.1%} needs {needed_for(limit)} there, "
            f"so {2 * needed_for(limit)} in the set"
        )


def require_separation(observations: Sequence[Observation]) -> float:
    """Return the cross-validated AUROC; refuse classes that overlap beyond use."""
    found = cross_validate(observations, Limits(), repetitions=1)
    separation = found.separation(("short", "long"))
    if separation < LEAST_AUROC:
        raise CalibrationRefusedError(
            f"the classes do not separate: cross-validated AUROC is {separation:.2f}, at least "
            f"{LEAST_AUROC:.2f} is needed for a threshold of any use",
            blockers(found.verdicts),
        )
    return separation


def require_use(certified: Sequence[Judged]) -> None:
    """Refuse a threshold that refuses most of what it should answer."""
    over_refusal = refused_share([one for one in certified if one.observation.is_answerable])
    if over_refusal is not None and over_refusal > MOST_OVER_REFUSAL:
        raise CalibrationRefusedError(
            f"a threshold for this target would refuse {over_refusal:.0%} of the answerable "
            "questions; allow more leaks, or add questions the model can tell apart",
            blockers(certified),
        )


def blockers(found: Sequence[Judged]) -> tuple[str, ...]:
    """Return the questions that stand on the wrong side, worst first, with what they found."""
    negatives = sorted(
        (one for one in found if not one.observation.is_answerable), key=lambda one: -one.number
    )
    positives = sorted(
        (one for one in found if one.observation.is_answerable), key=lambda one: one.number
    )
    return tuple(
        f"{one.observation.question_id} [{one.observation.band}] {one.number:.2f} "
        f"{one.observation.question!r} - nearest: {'; '.join(one.observation.nearest) or 'nothing'}"
        for one in (*negatives[:_BLOCKERS], *positives[:_BLOCKERS])
    )
