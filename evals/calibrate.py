"""``vouch calibrate SET``: fits the guard's model, chooses its threshold, certifies what it leaks.

Fitting and certifying use disjoint questions, so that the bound holds for the model as it is
written down. A set that is too small, or whose classes overlap beyond use, gets no threshold but a
reason and the questions at fault.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from backend.verdict.calibration_artefact import (
    Bound,
    CalibrationArtefact,
    CalibrationStamp,
    Operating,
    SignalDistribution,
    SignalWeight,
    Target,
)
from evals.bounds import (
    CONFIDENCE,
    clopper_pearson_upper,
    learn_then_test,
    smallest_certifiable,
)
from evals.curves import auroc
from evals.errors import CalibrationRefusedError
from evals.logistic import SIGNALS, FittedModel, fit
from evals.observations import Observation
from evals.operating import (
    LONG_LIMIT,
    SHORT_LIMIT,
    Judged,
    Limits,
    judged,
    refused_share,
    share_by_band,
    threshold_for,
)
from evals.usable import (
    blockers,
    require_certifiable,
    require_numbers,
    require_separation,
    require_use,
)
from retrieval.manifest import Manifest

_QUANTILES = np.linspace(0.0, 1.0, 21)


@dataclass(frozen=True, slots=True)
class Calibration:
    """An artefact with what led to it, for the report.

    Attributes:
        certified: Verdicts on the part that was used for nothing else.
        cross_validated_auroc: Of all answerable against unanswerable questions.
    """

    artefact: CalibrationArtefact
    certified: tuple[Judged, ...]
    cross_validated_auroc: float


def calibrate(
    observations: Sequence[Observation],
    manifest: Manifest,
    *,
    name: str,
    target: Target,
    created_at: datetime | None = None,
) -> Calibration:
    """Make an artefact for one build.

    Args:
        observations: Every labelled question with its signals on that build.
        manifest: Of the build.
        name: Of the set.
        target: Largest leak rate at 95% confidence, or largest over-refusal of short questions.
        created_at: Time written into the artefact; None takes now.

    Raises:
        CalibrationRefusedError: Too few questions, classes that overlap beyond use, or a target
            that cannot be certified; names the questions at fault.
    """
    require_numbers(observations)
    fitting, certifying = part(observations)
    if target.kind == "leak":
        require_certifiable(certifying, target.limit)
    separation = require_separation(observations)
    model = fit(fitting)
    threshold = _threshold(model, fitting, certifying, target)
    certified = judged(certifying, lambda one: model.probability(one.signals), threshold)
    require_use(certified)
    artefact = CalibrationArtefact(
        name=name,
        created_at=(created_at or datetime.now(UTC)).isoformat(timespec="seconds"),
        stamp=stamp_of(manifest),
        intercept=model.intercept,
        weights=_weights(model, fitting),
        threshold=threshold,
        target=target,
        bound=bound_of(certified),
        operating=operating_of(certified),
        distributions=_distributions(observations),
    )
    return Calibration(artefact, certified, separation)


def part(
    observations: Sequence[Observation],
) -> tuple[tuple[Observation, ...], tuple[Observation, ...]]:
    """Return the half that fits and the half that certifies, alike in every band, fixed by id."""
    fitting: list[Observation] = []
    certifying: list[Observation] = []
    for band in dict.fromkeys(one.band for one in observations):
        ordered = sorted(
            (one for one in observations if one.band == band),
            key=lambda one: hashlib.sha256(one.question_id.encode()).digest(),
        )
        fitting += ordered[0::2]
        certifying += ordered[1::2]
    return tuple(fitting), tuple(certifying)


def stamp_of(manifest: Manifest) -> CalibrationStamp:
    """Return what must match between the artefact and an index."""
    stamp = manifest.stamp
    return CalibrationStamp(
        embedding_model=stamp.embedding_model,
        model_digest=stamp.model_digest,
        dimension=stamp.dimension,
        header_format=stamp.header_format,
        chunker=stamp.chunker,
        profile=manifest.profile,
        build=manifest.build,
        content_digest=manifest.content_digest,
        chunks=manifest.chunks,
        sketch=manifest.sketch,
    )


def bound_of(certified: Sequence[Judged]) -> Bound:
    """Return the exact bound on the leak rate from questions used for nothing else."""
    negatives = [one for one in certified if not one.observation.is_answerable]
    leaked = sum(not one.is_refused for one in negatives)
    return Bound(
        alpha=clopper_pearson_upper(leaked, len(negatives)),
        confidence=CONFIDENCE,
        n=len(negatives),
        leaked=leaked,
        smallest_alpha=smallest_certifiable(len(negatives)),
    )


def operating_of(found: Sequence[Judged]) -> Operating:
    """Return the quality at a threshold."""
    positives = [one for one in found if one.observation.is_answerable]
    negatives = [one for one in found if not one.observation.is_answerable]
    return Operating(
        auroc=auroc([one.number for one in positives], [one.number for one in negatives]),
        refusal_recall=refused_share(negatives) or 0.0,
        over_refusal=refused_share(positives) or 0.0,
        by_band=share_by_band(negatives),
        answerable=len(positives),
        unanswerable=len(negatives),
    )


def _threshold(
    model: FittedModel,
    fitting: Sequence[Observation],
    certifying: Sequence[Observation],
    target: Target,
) -> float:
    def number_of(one: Observation) -> float:
        return model.probability(one.signals)

    if target.kind == "over_refusal":
        limits = Limits(target.limit, target.limit * LONG_LIMIT / SHORT_LIMIT)
        return threshold_for(fitting, number_of, limits)
    negatives = [one for one in certifying if not one.is_answerable]
    threshold = learn_then_test(
        [number_of(one) for one in fitting], [number_of(one) for one in negatives], target.limit
    )
    if threshold is None:
        strictest = judged(certifying, number_of, max(number_of(one) for one in fitting))
        raise CalibrationRefusedError(
            f"no threshold is certified to leak at most {target.limit:.1%} at {CONFIDENCE:.0%} "
            f"confidence: even the strictest lets unanswerable questions through",
            blockers(strictest),
        )
    return threshold


def _weights(model: FittedModel, fitting: Sequence[Observation]) -> tuple[SignalWeight, ...]:
    return tuple(
        SignalWeight(
            name=one.name,
            coefficient=one.coefficient,
            mean=one.mean,
            scale=one.scale,
            lowest=one.lowest,
            highest=one.highest,
            missing=float(np.median([seen.signals[one.name] for seen in fitting])),
        )
        for one in model.signals
    )


def _distributions(observations: Sequence[Observation]) -> tuple[SignalDistribution, ...]:
    def quantiles(name: str, *, answerable: bool) -> tuple[float, ...]:
        numbers = [one.signals[name] for one in observations if one.is_answerable is answerable]
        return tuple(float(value) for value in np.quantile(numbers, _QUANTILES))

    return tuple(
        SignalDistribution(
            name=name,
            answerable=quantiles(name, answerable=True),
            unanswerable=quantiles(name, answerable=False),
        )
        for name in SIGNALS
    )
