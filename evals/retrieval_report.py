"""The report of a retrieval evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from evals.bootstrap import Interval
from evals.figures import bars
from evals.ranking import FAILURE_KINDS, counted
from evals.report import Part, Report
from evals.retrieval import RetrievalResult, intervals
from evals.sets import Split
from evals.tables import table

_SPLITS: tuple[Split, ...] = get_args(Split)
_PLOTTED = ("F1", "MRR", "hit", "nDCG@10")
_COLUMNS = (
    *("precision", "recall", "F1", "MRR", "hit", "nDCG@10", "Pass@5", "Pass@10", "Pass@20"),
)


def retrieval_report(
    results: Mapping[str, RetrievalResult],
    steps: Mapping[str, RetrievalResult] | None = None,
    *,
    with_questions: bool = True,
) -> Report:
    """Return the report.

    Args:
        results: Profile name to result, on one set.
        steps: The ladder, from its first rung; None leaves it out.
        with_questions: List the questions behind each failure; off for reports that leave the
            machine when the set's texts may not.
    """
    first = next(iter(results.values()))
    figures = {"profiles": bars(_plotted(results), title=f"{first.set_name}, k = {first.k}")}
    parts = [
        Part("Figures", _note(first) + _figures_table(results), {"profiles": "By profile"}),
        Part("Labelled sections not among the first k", _failure_table(results)),
    ]
    if any(result.degraded for result in results.values()):
        parts.append(Part("What fell back", _degraded_table(results)))
    if steps:
        figures["ladder"] = bars(_plotted(steps), title="What each stage adds")
        parts.append(Part("Ablation", _ladder_table(steps), {"ladder": "The ladder"}))
    if with_questions:
        parts.append(Part("The questions behind the failures", _question_table(first)))
    return Report(f"retrieval-{first.set_name}", f"Retrieval on {first.set_name}", parts, figures)


def _degraded_table(results: Mapping[str, RetrievalResult]) -> str:
    rows = [
        (name, stage.replace("_", " "), f"{count} of {len(result.ranked)}")
        for name, result in results.items()
        for stage, count in sorted(result.degraded.items())
    ]
    return table(("profile", "stage", "searches"), rows)


def _note(first: RetrievalResult) -> str:
    return (
        f"{len(first.ranked)} questions, ranked by the set's own section ids, k = {first.k}. "
        "In brackets 95% bootstrap intervals over questions. F1 is of the averaged precision and "
        "recall, MRR is cut at k, Pass@n is the mean share of the labelled sections among the "
        "first n. The halves are fixed by a hash of the question's id: whatever is tuned is tuned "
        "on dev.\n\n"
    )


def _figures_table(results: Mapping[str, RetrievalResult]) -> str:
    rows: list[list[object]] = []
    for name, result in results.items():
        for split in _SPLITS:
            chosen = result.of(split)
            if chosen:
                found = intervals(chosen, result.k)
                rows.append([name, split, len(chosen), *(found[column] for column in _COLUMNS)])
    return table(("profile", "half", "n", *_COLUMNS), rows)


def _failure_table(results: Mapping[str, RetrievalResult]) -> str:
    rows = [[name, *counted(result.failures).values()] for name, result in results.items()]
    return table(("profile", *(kind.replace("_", " ") for kind in FAILURE_KINDS)), rows)


def _ladder_table(steps: Mapping[str, RetrievalResult]) -> str:
    rows: list[list[object]] = []
    for name, result in steps.items():
        found = {split: result.summary(split) for split in _SPLITS if result.of(split)}
        rows.append(
            [name, *(value for split in _SPLITS for value in (found[split].f1, found[split].mrr))]
        )
    head = ("stage", *(f"{figure} {split}" for split in _SPLITS for figure in ("F1", "MRR")))
    return table(head, rows)


def _question_table(result: RetrievalResult) -> str:
    rows = [
        (one.kind.replace("_", " "), one.place, one.question.question, one.section_id)
        for one in result.failures
    ]
    return table(("kind", "place", "question", "section"), rows)


def _plotted(results: Mapping[str, RetrievalResult]) -> dict[str, dict[str, Interval]]:
    found = {name: intervals(result.of("all"), result.k) for name, result in results.items()}
    return {name: {figure: values[figure] for figure in _PLOTTED} for name, values in found.items()}
