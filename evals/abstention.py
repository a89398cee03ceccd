"""``vouch eval abstention SET``: does the guard refuse what it should, and only that?"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

from backend.verdict.calibration_artefact import CalibrationArtefact
from evals.applying import apply
from evals.bounds import CONFIDENCE, clopper_pearson_upper
from evals.crossvalidation import CrossValidated, cross_validate
from evals.curves import auroc
from evals.observations import Observation
from evals.operating import Judged, Limits, judged, refused_share, share_by_band

Mode = Literal["cross_validated", "calibrated", "fixed"]


class AbstentionBound(BaseModel):
    """Upper bound on the leak rate over the set's unanswerable questions."""

    model_config = ConfigDict(frozen=True)

    alpha: float
    confidence: float
    n: int


class AbstentionSummary(BaseModel):
    """The object that ``--json`` prints; shares are in [0, 1].

    ``auroc`` and ``over_refusal`` are of short questions where the set has any, as length alone
    tells long ones from short unanswerable ones; ``by_band`` is the share refused of every band,
    answerable kinds included.
    """

    model_config = ConfigDict(frozen=True)

    auroc: float
    threshold: float
    refusal_recall: float
    over_refusal: float
    by_band: dict[str, float]
    mode: Mode
    bound: AbstentionBound


@dataclass(frozen=True, slots=True)
class AbstentionResult:
    """One way to judge, on one set.

    Attributes:
        verdicts: Each question once, or once per repetition of a cross-validation.
        auroc_by_kind: Of ``short`` and ``long`` against unanswerable.
    """

    mode: Mode
    threshold: float
    verdicts: tuple[Judged, ...]
    auroc_by_kind: dict[str, float]

    @property
    def grounded_refusal_f1(self) -> float:
        """Harmonic mean of precision and recall of refusals."""
        refused = [one for one in self.verdicts if one.is_refused]
        right = sum(not one.observation.is_answerable for one in refused)
        due = sum(not one.observation.is_answerable for one in self.verdicts)
        return 2 * right / (len(refused) + due) if refused else 0.0

    def summary(self) -> AbstentionSummary:
        """Return the figures."""
        bands = share_by_band(self.verdicts)
        leading = "short" if "short" in self.auroc_by_kind else "long"
        negatives = [one for one in self.verdicts if not one.observation.is_answerable]
        recall = refused_share(negatives) or 0.0
        n = len({one.observation.question_id for one in negatives})
        return AbstentionSummary(
            auroc=self.auroc_by_kind[leading],
            threshold=self.threshold,
            refusal_recall=recall,
            over_refusal=bands[leading],
            by_band=bands,
            mode=self.mode,
            bound=AbstentionBound(
                alpha=clopper_pearson_upper(round((1.0 - recall) * n), n),
                confidence=CONFIDENCE,
                n=n,
            ),
        )


def evaluate_cross_validated(
    observations: Sequence[Observation], limits: Limits | None = None
) -> AbstentionResult:
    """Judge every question by models and thresholds that never saw it."""
    found: CrossValidated = cross_validate(observations, limits or Limits())
    return AbstentionResult(
        "cross_validated",
        statistics.median(found.thresholds),
        found.verdicts,
        {kind: found.separation((kind,)) for kind in _kinds(observations)},
    )


def evaluate_artefact(
    observations: Sequence[Observation], artefact: CalibrationArtefact
) -> AbstentionResult:
    """Judge every question by an artefact made elsewhere, unchanged."""
    return _result("calibrated", artefact.threshold, apply(artefact, observations))


def evaluate_fixed(
    observations: Sequence[Observation], threshold_cosine: float
) -> AbstentionResult:
    """Judge every question by its best cosine alone."""
    verdicts = judged(observations, lambda one: one.signals["best_cosine"], threshold_cosine)
    return _result("fixed", threshold_cosine, verdicts)


def _result(mode: Mode, threshold: float, verdicts: tuple[Judged, ...]) -> AbstentionResult:
    negatives = [one.number for one in verdicts if not one.observation.is_answerable]
    return AbstentionResult(
        mode,
        threshold,
        verdicts,
        {
            kind: auroc([one.number for one in verdicts if one.observation.kind == kind], negatives)
            for kind in _kinds([one.observation for one in verdicts])
        },
    )


def _kinds(observations: Sequence[Observation]) -> list[str]:
    return [kind for kind in ("short", "long") if any(one.kind == kind for one in observations)]
