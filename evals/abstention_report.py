"""The report of an abstention evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evals.abstention import AbstentionResult
from evals.curves import (
    area_under_risk,
    expected_calibration_error,
    reliability,
    risk_coverage,
)
from evals.operating import Judged
from evals.report import Part, Report
from evals.tables import table
from evals.verdict_figures import band_plot, reliability_plot, risk_plot

_EXAMPLES = 15


def abstention_report(
    set_name: str,
    results: Mapping[str, AbstentionResult],
    notes: Sequence[Part] = (),
    *,
    with_questions: bool = True,
) -> Report:
    """Return the report; the first result leads and is plotted.

    Args:
        set_name: Of the set.
        results: Name of a way to judge to its result.
        notes: Further parts, such as near misses or a transfer to another set.
        with_questions: List the questions judged wrongly.
    """
    leading = next(iter(results.values()))
    once = _first_repetition(leading.verdicts)
    figures = {
        "risk": risk_plot({name: _first_repetition(one.verdicts) for name, one in results.items()}),
        "bands": band_plot(once, leading.threshold, x="probability of being answerable"),
    }
    captions = {"risk": "Risk over coverage", "bands": "Every question, and the threshold"}
    if leading.mode != "fixed":
        figures["reliability"] = reliability_plot(once)
        captions["reliability"] = "Reliability of the probability"
    parts = [
        Part("Verdicts", _verdicts_table(results), captions),
        Part("Share refused by band", _band_table(results)),
        *notes,
    ]
    if with_questions:
        parts.append(Part("Judged wrongly", _wrong_table(once)))
    return Report(f"abstention-{set_name}", f"Abstention on {set_name}", parts, figures)


def _verdicts_table(results: Mapping[str, AbstentionResult]) -> str:
    rows: list[list[object]] = []
    for name, result in results.items():
        summary = result.summary()
        once = _first_repetition(result.verdicts)
        positives = [one.number for one in once if one.observation.is_answerable]
        negatives = [one.number for one in once if not one.observation.is_answerable]
        ece = None
        if result.mode != "fixed":
            truth = [one.observation.is_answerable for one in once]
            ece = expected_calibration_error(reliability([one.number for one in once], truth))
        rows.append(
            [
                name,
                result.auroc_by_kind.get("short"),
                result.auroc_by_kind.get("long"),
                summary.threshold,
                summary.refusal_recall,
                summary.by_band.get("short"),
                summary.by_band.get("long"),
                result.grounded_refusal_f1,
                area_under_risk(risk_coverage(positives, negatives)),
                ece,
                f"{summary.bound.alpha:.1%} (n = {summary.bound.n})",
            ]
        )
    head = (
        *("judged by", "AUROC short", "AUROC long", "threshold", "refusal recall"),
        *("short refused", "long refused", "refusal F1", "AURC", "calibration error"),
        "leak rate at most, 95%",
    )
    return table(head, rows)


def _band_table(results: Mapping[str, AbstentionResult]) -> str:
    bands = list(next(iter(results.values())).summary().by_band)
    rows = [
        [name, *(result.summary().by_band.get(band) for band in bands)]
        for name, result in results.items()
    ]
    return table(("judged by", *(band.replace("_", " ") for band in bands)), rows)


def _wrong_table(verdicts: Sequence[Judged]) -> str:
    wrong = [one for one in verdicts if one.is_refused is one.observation.is_answerable]
    rows = [
        (
            "refused" if one.is_refused else "answered",
            one.observation.band.replace("_", " "),
            one.number,
            one.observation.question,
            "; ".join(one.observation.nearest),
        )
        for one in sorted(wrong, key=lambda one: one.number)[:_EXAMPLES]
    ]
    return table(("was", "band", "probability", "question", "nearest"), rows)


def _first_repetition(verdicts: Sequence[Judged]) -> tuple[Judged, ...]:
    """Return each question once."""
    seen: dict[tuple[str, str], Judged] = {}
    for one in verdicts:
        seen.setdefault((one.observation.band, one.observation.question_id), one)
    return tuple(seen.values())
