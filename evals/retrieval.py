"""``vouch eval retrieval SET``: how well labelled sections are found, and why some are not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from evals.bootstrap import Interval, interval
from evals.measures import PASS_CUTS, Measured, Ranked, f1_of_means, measure
from evals.ranking import Failure, failures, ranked
from evals.scratch import Scratch
from evals.sets import Question, Split, half_of

DEFAULT_K = 3
_SHOWN = 20


class RetrievalSummary(BaseModel):
    """The object that ``--json`` prints: shares in [0, 1] over n questions."""

    model_config = ConfigDict(frozen=True)

    set: str
    split: Split
    n: int
    k: int
    precision: float
    recall: float
    f1: float
    mrr: float
    hit: float
    ndcg_at_10: float
    pass_at: dict[str, float]


class ComparedSummary(RetrievalSummary):
    """The object of several profiles: the first one's figures, and those of each by name.

    ``degraded`` tells, for a profile, in how many searches a stage fell back.
    """

    by_profile: dict[str, RetrievalSummary]
    degraded: dict[str, dict[str, int]] = Field(default_factory=dict[str, dict[str, int]])


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """One profile on one set.

    Attributes:
        ranked: One per question with labels.
        failures: Labelled sections missing from the first k, with their kinds.
        degraded: Name of a stage that fell back to the searches in which it did.
    """

    set_name: str
    profile: str
    k: int
    ranked: tuple[Ranked, ...]
    failures: tuple[Failure, ...]
    degraded: Mapping[str, int] = field(default_factory=dict[str, int])

    def of(self, split: Split) -> tuple[Ranked, ...]:
        """Return the rankings of one half, or all."""
        if split == "all":
            return self.ranked
        return tuple(one for one in self.ranked if half_of(one.question_id) == split)

    def summary(self, split: Split) -> RetrievalSummary:
        """Return the figures of one half, or of all questions."""
        chosen = self.of(split)
        figures = {name: one.value for name, one in intervals(chosen, self.k, resamples=1).items()}
        measured = measure(chosen, self.k)
        return RetrievalSummary(
            set=self.set_name,
            split=split,
            n=len(chosen),
            k=self.k,
            precision=figures["precision"],
            recall=figures["recall"],
            f1=figures["F1"],
            mrr=figures["MRR"],
            hit=figures["hit"],
            ndcg_at_10=figures["nDCG@10"],
            pass_at={str(cut): float(np.mean(measured.pass_at[cut])) for cut in PASS_CUTS},
        )


def intervals(
    chosen: Sequence[Ranked], k: int, *, resamples: int | None = None
) -> dict[str, Interval]:
    """Return each figure with its 95% bootstrap interval over questions.

    Args:
        chosen: Rankings, at least one.
        k: Cut-off.
        resamples: Number of bootstrap draws; None takes the usual number.
    """
    measured = measure(chosen, k)
    rows = {
        "precision": measured.precision,
        "recall": measured.recall,
        "MRR": measured.reciprocal_rank,
        "hit": measured.hit,
        "nDCG@10": measured.ndcg_at_10,
    } | {f"Pass@{cut}": measured.pass_at[cut] for cut in PASS_CUTS}
    options = {} if resamples is None else {"resamples": resamples}
    n = len(chosen)
    figures = {
        name: interval(lambda at, values=values: float(values[at].mean()), n, **options)
        for name, values in rows.items()
    }
    figures["F1"] = interval(lambda at: _f1(measured, at), n, **options)
    return figures


async def evaluate_profiles(
    set_name: str,
    questions: Sequence[Question],
    scratch: Scratch,
    profiles: Sequence[str],
    k: int = DEFAULT_K,
) -> dict[str, RetrievalResult]:
    """Rank every labelled question with each profile.

    Args:
        set_name: For the report.
        questions: Those without labelled sections are left out.
        scratch: The set's own index.
        profiles: Names of profiles the index was opened with.
        k: Cut-off, in sections.
    """
    labelled = [question for question in questions if question.relevant_ids]
    results: dict[str, RetrievalResult] = {}
    for name in profiles:
        rankings: list[Ranked] = []
        missing: list[Failure] = []
        fallen: Counter[str] = Counter()
        for question in labelled:
            outcome = await scratch.search(question.question, top_k=_SHOWN, profile=name)
            rankings.append(ranked(question, outcome, scratch.sections_of))
            missing += failures(question, outcome, scratch.sections_of, k)
            fallen.update(outcome.degraded)
        results[name] = RetrievalResult(set_name, name, k, tuple(rankings), tuple(missing), fallen)
    return results


def summarise(results: Mapping[str, RetrievalResult], split: Split) -> RetrievalSummary:
    """Return the figures of the first profile, beside those of all when there are several."""
    summaries = {name: result.summary(split) for name, result in results.items()}
    first = next(iter(summaries.values()))
    if len(summaries) == 1:
        return first
    degraded = {name: dict(result.degraded) for name, result in results.items() if result.degraded}
    return ComparedSummary(**dict(first), by_profile=summaries, degraded=degraded)


def _f1(measured: Measured, at: np.typing.NDArray[np.intp]) -> float:
    return f1_of_means(measured.precision[at], measured.recall[at])
