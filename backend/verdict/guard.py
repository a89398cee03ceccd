"""The verdict: is the evidence strong enough to answer at all?

Pure and deterministic: the same signals under the same rule give the same verdict, whatever a
model wrote. A number exactly at its threshold passes, in every mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from backend.contract import GuardView
from backend.verdict.calibration import estimate
from backend.verdict.calibration_artefact import CalibrationArtefact
from knowledge.contracts import Signals

_MOST_TERMS_NAMED = 3


@dataclass(frozen=True, slots=True)
class FixedRule:
    """Answer when the best cosine reaches a threshold.

    Attributes:
        threshold_cosine: In [-1, 1].
        is_default: True for the uncalibrated default of the model, False when set by hand.
    """

    threshold_cosine: float
    is_default: bool


@dataclass(frozen=True, slots=True)
class CalibratedRule:
    """Answer when the calibrated probability reaches the artefact's threshold.

    Attributes:
        floor_cosine: Set by hand; the best cosine must reach it as well. None for no floor.
    """

    artefact: CalibrationArtefact
    floor_cosine: float | None = None


Rule: TypeAlias = FixedRule | CalibratedRule


def judge(signals: Signals, rule: Rule) -> GuardView:
    """Return the verdict on one search.

    Args:
        signals: Computed over all candidates, before fusion and reranking.
        rule: The mode in force and its numbers.
    """
    if signals.best_cosine is None or signals.hit_count == 0:
        return _judge_nothing(signals, rule)
    if isinstance(rule, FixedRule):
        return _judge_fixed(signals, signals.best_cosine, rule)
    return _judge_calibrated(signals, signals.best_cosine, rule)


def compared_number(signals: Signals, rule: Rule) -> float | None:
    """Return the number that ``judge`` compares with a rule's threshold.

    Returns:
        A cosine or a probability; None when no threshold could let the evidence pass, because
        nothing was found or a floor is not reached.
    """
    if signals.best_cosine is None or signals.hit_count == 0:
        return None
    earned = _earned_cosine(signals, signals.best_cosine)
    if isinstance(rule, FixedRule):
        return earned
    if rule.floor_cosine is not None and earned < rule.floor_cosine:
        return None
    return estimate(rule.artefact, _earned(signals)).probability


def _judge_nothing(signals: Signals, rule: Rule) -> GuardView:
    is_fixed = isinstance(rule, FixedRule)
    return GuardView(
        mode="fixed" if is_fixed else "calibrated",
        calibrated=not is_fixed,
        best_cosine=None,
        threshold=rule.threshold_cosine if is_fixed else rule.artefact.threshold,
        threshold_kind="cosine" if is_fixed else "probability",
        signals=signals,
        passed=False,
        reason="The search found no passage at all.",
    )


def _earned(signals: Signals) -> Signals:
    """Return the signals of what passages say themselves; unchanged where no header lifted any."""
    best = signals.best_cosine
    if best is None:
        return signals
    cosine = min(best, signals.more.get("own_cosine", best))
    sparse = signals.more.get("own_sparse_per_term", signals.sparse_per_term)
    return signals.model_copy(
        update={
            "best_cosine": cosine,
            "sparse_per_term": min(sparse, signals.sparse_per_term),
        }
    )


def _earned_cosine(signals: Signals, best_cosine: float) -> float:
    earned = _earned(signals).best_cosine
    return best_cosine if earned is None else earned


def _judge_fixed(signals: Signals, best_cosine: float, rule: FixedRule) -> GuardView:
    passed = _earned_cosine(signals, best_cosine) >= rule.threshold_cosine
    return GuardView(
        mode="fixed",
        calibrated=False,
        best_cosine=best_cosine,
        threshold=rule.threshold_cosine,
        signals=signals,
        passed=passed,
        reason=_cosine_sentence(best_cosine, rule.threshold_cosine, _name_of(rule), signals),
    )


def _judge_calibrated(signals: Signals, best_cosine: float, rule: CalibratedRule) -> GuardView:
    found = estimate(rule.artefact, _earned(signals))
    threshold = rule.artefact.threshold
    earned = _earned_cosine(signals, best_cosine)
    reaches_floor = rule.floor_cosine is None or earned >= rule.floor_cosine
    passed = reaches_floor and found.probability >= threshold
    if rule.floor_cosine is not None and not reaches_floor:
        reason = _cosine_sentence(best_cosine, rule.floor_cosine, "the floor set by hand", signals)
    else:
        reason = _probability_sentence(found.probability, threshold, best_cosine, signals)
    return GuardView(
        mode="calibrated",
        calibrated=True,
        best_cosine=best_cosine,
        threshold=threshold,
        threshold_kind="probability",
        probability=found.probability,
        signals=signals,
        contributions=found.contributions,
        passed=passed,
        reason=reason,
    )


def _name_of(rule: FixedRule) -> str:
    return "the uncalibrated default" if rule.is_default else "the threshold set by hand"


def _cosine_sentence(cosine: float, threshold: float, name: str, signals: Signals) -> str:
    shown, bound = _apart(cosine, threshold)
    is_lifted = _earned_cosine(signals, cosine) < threshold <= cosine
    lifted = _lifted(signals, cosine) if is_lifted else ""
    return (
        f"The closest passage has cosine {shown}, {_relation(cosine, threshold)} {name} of {bound}"
        f"{lifted}{_missing(signals.missing_terms)}."
    )


def _probability_sentence(
    probability: float, threshold: float, best_cosine: float, signals: Signals
) -> str:
    shown, bound = _apart(probability, threshold)
    return (
        f"The closest passage has cosine {best_cosine:.2f}{_lifted(signals, best_cosine)}; the "
        f"calibrated probability that the documentation answers this is {shown}, "
        f"{_relation(probability, threshold)} the threshold of "
        f"{bound}{_missing(signals.missing_terms)}."
    )


def _lifted(signals: Signals, cosine: float) -> str:
    """Return what to say of a cosine that a passage owes to the title above it."""
    earned = _earned_cosine(signals, cosine)
    if earned >= cosine:
        return ""
    if earned > -1:
        rest = f"without such passages it is {earned:.2f}"
    else:
        rest = "no passage holds enough of the question's words itself"
    return f", but owes it to the title it stands under ({rest})"


def _relation(number: float, threshold: float) -> str:
    return "at or above" if number >= threshold else "under"


def _apart(number: float, threshold: float) -> tuple[str, str]:
    """Return both numbers with as many digits as it takes to see which is larger."""
    for digits in (2, 3, 4, 6):
        shown, bound = f"{number:.{digits}f}", f"{threshold:.{digits}f}"
        if shown != bound or number == threshold:
            return shown, bound
    return repr(number), repr(threshold)


def _missing(terms: Sequence[str]) -> str:
    if not terms:
        return ""
    named = " or ".join(f"'{term}'" for term in terms[:_MOST_TERMS_NAMED])
    # The words are looked for in the passages of this search: another one may well have them.
    return f"; none of the passages found mentions {named}"
