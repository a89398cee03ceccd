"""What the command line calls: settings and a set in, figures and a report out."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.ablation import climb
from evals.errors import EvalError, EvalSetError
from evals.report import Report, write_report
from evals.retrieval import (
    DEFAULT_K,
    RetrievalResult,
    RetrievalSummary,
    evaluate_profiles,
    summarise,
)
from evals.retrieval_report import retrieval_report
from evals.sample import SampleResult, measure_sample, open_sample
from evals.sample_report import sample_report
from evals.scratch import open_scratch, silent
from evals.sets import EvalSet, Split, load_set
from evals.workbench import open_workbench
from ingestion.report import Progress
from ingestion.settings import IngestionSettings
from retrieval.profiles import (
    IngestionProfile,
    SearchProfile,
    load_profiles,
    packaged_search,
    profile_named,
)

_PARTS = tuple(IngestionProfile.model_fields)


def default_profiles() -> dict[str, SearchProfile]:
    """Return how evaluations search when nobody names a profile: as the packaged default does."""
    return {"default": packaged_search()}


def named_profiles(settings: IngestionSettings, names: Sequence[str]) -> dict[str, SearchProfile]:
    """Return how the named profiles search, in the order given.

    A set is indexed once, as the profile in force says; ways to search are compared
    on it, ways to build an index are not.

    Raises:
        BadRequestError: There is no such profile.
        EvalError: A profile builds another index than the evaluation does.
    """
    known = load_profiles(settings.profiles_file, settings.environment)
    built = profile_named(known, settings.profile).ingestion
    for name in names:
        ingestion = profile_named(known, name).ingestion
        others = [part for part in _PARTS if getattr(ingestion, part) != getattr(built, part)]
        if others:
            message = (
                f"the profile {name} builds another index than {settings.profile} does (its "
                f"{', '.join(others).replace('_', ' ')} differ), and one index is searched here"
            )
            raise EvalError(message)
    return {name: profile_named(known, name).search for name in names}


@dataclass(frozen=True, slots=True)
class Written:
    """A report on disk: for the repository and for the browser."""

    markdown: Path
    html: Path


async def eval_retrieval(
    folder: Path,
    settings: IngestionSettings,
    *,
    profiles: Mapping[str, SearchProfile] | None = None,
    k: int = DEFAULT_K,
    split: Split = "all",
    with_ladder: bool = False,
    with_questions: bool = True,
    reports: Path | None = None,
    progress: Progress = silent,
) -> tuple[RetrievalSummary, Written | None]:
    """Measure how well a set's labelled sections are found.

    Args:
        folder: Holds ``corpus.jsonl`` and ``queries.jsonl``.
        settings: Where the data is and how documents are cut.
        profiles: Ways to search, by name; the first one's figures are returned; None takes the
            packaged default.
        k: Cut-off, in sections.
        split: Half of the questions the returned figures are of.
        with_ladder: Also measure what each stage adds.
        with_questions: Let the report name questions.
        reports: Where reports go; None writes none.
        progress: Called while passages are embedded.

    Raises:
        EvalSetError: The folder is no labelled set.
    """
    eval_set = with_corpus(load_set(folder))
    profiles = profiles or default_profiles()
    steps: Mapping[str, RetrievalResult] | None = None
    async with open_workbench(settings) as bench:
        async with open_scratch(eval_set, bench, profiles=profiles, progress=progress) as scratch:
            results = await evaluate_profiles(
                eval_set.name, eval_set.queries, scratch, list(profiles), k
            )
        if with_ladder:
            default = next(iter(profiles.values()))
            steps = await climb(eval_set, bench, default, k=k, progress=progress)
    report = retrieval_report(results, steps, with_questions=with_questions)
    summary = summarise(results, split)
    return summary, await write(report, reports)


async def eval_sample(
    settings: IngestionSettings,
    *,
    threshold_cosine: float,
    reports: Path | None = None,
    progress: Progress = silent,
) -> tuple[SampleResult, Written | None]:
    """Measure the sample corpus: hit@4, exact tokens, and the fixed threshold.

    Args:
        settings: Where the data is and how documents are cut.
        threshold_cosine: The fixed default.
        reports: Where reports go; None writes none.
        progress: Called while passages are embedded.
    """
    async with open_workbench(settings) as bench, open_sample(bench, progress=progress) as sample:
        result = await measure_sample(sample, threshold_cosine)
    return result, await write(sample_report(result), reports)


def with_corpus(eval_set: EvalSet) -> EvalSet:
    """Return the set if it has a corpus to index.

    Raises:
        EvalSetError: It has none.
    """
    if not eval_set.sections:
        message = f"{eval_set.folder} holds no corpus.jsonl to index"
        raise EvalSetError(message)
    return eval_set


async def write(report: Report, reports: Path | None) -> Written | None:
    """Write a report, off the event loop; None writes none."""
    if reports is None:
        return None
    return Written(*await asyncio.to_thread(write_report, report, reports))
