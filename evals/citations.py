"""How well the citation check tells supported claims from altered ones: ``vouch eval citations``.

The pairs are made from a set's corpus with the truth known by construction; see
``citation_pairs``. The halves are split by page (by question for reference answers) before
anything was fitted; the check's coefficients saw development halves only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, JsonValue

from backend.support.check import VERIFIED_SUPPORT, probability, without_markers
from backend.support.features import FEATURE_NAMES, compare
from backend.support.passage import prepare
from evals.citation_corpus import sections_of
from evals.citation_pairs import Pair, build_pairs, reference_pairs
from evals.curves import (
    CurvePoint,
    auroc,
    expected_calibration_error,
    reliability,
)
from evals.errors import EvalSetError
from evals.sets import Split, load_set

RELIABILITY_BINS = 10


class ChangeResult(BaseModel):
    """One kind of pair.

    Attributes:
        supported: The truth of the kind.
        auroc: Against all pairs of the other class.
        accepted: Share with support at the threshold or above: high is right for supported kinds.
    """

    model_config = ConfigDict(frozen=True)

    supported: bool
    n: int
    auroc: float
    accepted: float


class CitationSummary(BaseModel):
    """The object that ``--json`` prints; what each field means is in ``CitationResult``."""

    model_config = ConfigDict(frozen=True)

    set: str
    split: Split
    n: int
    auroc: float
    precision: float
    recall: float
    threshold: float
    calibration_error: float
    by_change: dict[str, ChangeResult]


@dataclass(frozen=True, slots=True)
class CitationResult:
    """The check on one set.

    Attributes:
        precision: Share of the verified pairs that are supported.
        recall: Share of the supported pairs that are verified.
        reliability: Mean support against the share supported, in bins of equal width. The support
            is meant for answers in which three claims of four are right; the pairs have fewer.
        support: Support of each pair, with its truth, for plots.
    """

    set_name: str
    split: Split
    n: int
    auroc: float
    precision: float
    recall: float
    threshold: float
    calibration_error: float
    by_change: dict[str, ChangeResult]
    reliability: tuple[CurvePoint, ...]
    support: tuple[tuple[float, bool], ...]

    def summary(self) -> CitationSummary:
        """Return the figures."""
        return CitationSummary(
            set=self.set_name,
            split=self.split,
            n=self.n,
            auroc=self.auroc,
            precision=self.precision,
            recall=self.recall,
            threshold=self.threshold,
            calibration_error=self.calibration_error,
            by_change=self.by_change,
        )


def evaluate(folder: Path, split: Split = "all") -> dict[str, JsonValue]:
    """Evaluate a set and return what ``--json`` prints.

    Raises:
        EvalSetError: The set cannot be read, has no corpus, or yields no pairs of a class.
    """
    return measure(folder, split).summary().model_dump(mode="json")


def measure(folder: Path, split: Split = "all") -> CitationResult:
    """Evaluate a set.

    Raises:
        EvalSetError: The set cannot be read, has no corpus, or yields no pairs of a class.
    """
    pairs = [pair for pair in pairs_of(folder) if split in {"all", pair.half}]
    supported = [(_support(pair), pair) for pair in pairs]
    true = [value for value, pair in supported if pair.supported]
    false = [value for value, pair in supported if not pair.supported]
    if not true or not false:
        message = f"{folder} yields no pairs of one class in the split {split!r}"
        raise EvalSetError(message)
    verified = [pair.supported for value, pair in supported if value >= VERIFIED_SUPPORT]
    points = reliability(
        [value for value, _ in supported],
        [pair.supported for _, pair in supported],
        RELIABILITY_BINS,
    )
    return CitationResult(
        set_name=folder.name,
        split=split,
        n=len(pairs),
        auroc=auroc(true, false),
        precision=sum(verified) / len(verified) if verified else 0.0,
        recall=sum(verified) / len(true),
        threshold=VERIFIED_SUPPORT,
        calibration_error=expected_calibration_error(points),
        by_change=_by_change(supported, true, false),
        reliability=points,
        support=tuple((value, pair.supported) for value, pair in supported),
    )


def pairs_of(folder: Path) -> list[Pair]:
    """Build all pairs of a set."""
    eval_set = load_set(folder)
    return build_pairs(sections_of(eval_set)) + reference_pairs(eval_set)


def signals(pair: Pair) -> list[float]:
    """Return the named signals of a pair, in the order of ``FEATURE_NAMES``."""
    found = compare(without_markers(pair.sentence), prepare(pair.passage), pair.context)
    if found is None:
        return [0.0] * len(FEATURE_NAMES)
    return [float(getattr(found.features, name)) for name in FEATURE_NAMES]


def _support(pair: Pair) -> float:
    found = compare(without_markers(pair.sentence), prepare(pair.passage), pair.context)
    return 0.0 if found is None else probability(found.features)


def _by_change(
    supported: Sequence[tuple[float, Pair]], true: Sequence[float], false: Sequence[float]
) -> dict[str, ChangeResult]:
    kinds: dict[tuple[bool, str], list[float]] = {}
    for value, pair in supported:
        kinds.setdefault((not pair.supported, pair.change), []).append(value)
    return {
        change: ChangeResult(
            supported=not is_false,
            n=len(values),
            auroc=auroc(true, values) if is_false else auroc(values, false),
            accepted=sum(value >= VERIFIED_SUPPORT for value in values) / len(values),
        )
        for (is_false, change), values in sorted(kinds.items())
    }
