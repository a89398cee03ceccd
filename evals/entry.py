"""What the command line calls: settings and a set in, figures and a report out."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from backend.calibration_artefact import CalibrationArtefact, Target
from evals.ablation import climb
from evals.abstention import (
    AbstentionResult,
    AbstentionSummary,
    evaluate_artefact,
    evaluate_cross_validated,
    evaluate_fixed,
)
from evals.abstention_report import abstention_report
from evals.calibrate import Calibration, calibrate
from evals.calibration_report import calibration_report
from evals.errors import EvalSetError
from evals.near_miss import near_miss_part
from evals.observations import Observation, observe_set
from evals.report import Report, write_report
from evals.retrieval import DEFAULT_K, RetrievalResult, RetrievalSummary, evaluate_profiles
from evals.retrieval_report import retrieval_report
from evals.sample import SampleResult, measure_sample, open_sample
from evals.sample_report import sample_report
from evals.scratch import open_scratch, silent
from evals.served import open_served
from evals.sets import EvalSet, Split, load_set
from evals.workbench import open_workbench
from ingestion.report import Progress
from ingestion.settings import IngestionSettings
from retrieval.profiles import SearchProfile

DEFAULT_PROFILES: Mapping[str, SearchProfile] = {"default": SearchProfile()}


@dataclass(frozen=True, slots=True)
class Written:
    """A report on disk: for the repository and for the browser."""

    markdown: Path
    html: Path


async def eval_retrieval(
    folder: Path,
    settings: IngestionSettings,
    *,
    profiles: Mapping[str, SearchProfile] = DEFAULT_PROFILES,
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
        profiles: Ways to search, by name; the first one's figures are returned.
        k: Cut-off, in sections.
        split: Half of the questions the returned figures are of.
        with_ladder: Also measure what each stage adds.
        with_questions: Let the report name questions.
        reports: Where reports go; None writes none.
        progress: Called while passages are embedded.

    Raises:
        EvalSetError: The folder is no labelled set.
    """
    eval_set = _with_corpus(load_set(folder))
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
    summary = next(iter(results.values())).summary(split)
    return summary, await _write(report, reports)


async def eval_abstention(
    folder: Path,
    settings: IngestionSettings,
    *,
    calibration: Path | None = None,
    threshold_cosine: float,
    with_questions: bool = True,
    reports: Path | None = None,
    progress: Progress = silent,
) -> tuple[AbstentionSummary, Written | None]:
    """Measure what the guard refuses, cross-validated or with an artefact made elsewhere.

    Args:
        folder: Holds a corpus, answerable and unanswerable questions.
        settings: Where the data is and how documents are cut.
        calibration: An artefact, used unchanged; None cross-validates.
        threshold_cosine: The fixed default, for comparison.
        with_questions: Let the report name questions.
        reports: Where reports go; None writes none.
        progress: Called while passages are embedded.

    Raises:
        EvalSetError: The folder lacks questions of a class, or the artefact cannot be read.
    """
    eval_set = _with_corpus(load_set(folder))
    artefact = read_artefact(calibration) if calibration else None
    async with (
        open_workbench(settings) as bench,
        open_scratch(eval_set, bench, profiles=DEFAULT_PROFILES, progress=progress) as scratch,
    ):
        observations = _of_both_classes(await observe_set(scratch, eval_set), folder)
        results: dict[str, AbstentionResult] = {}
        if artefact:
            results[f"artefact {artefact.name}, unchanged"] = evaluate_artefact(
                observations, artefact
            )
        else:
            results["cross-validated"] = evaluate_cross_validated(observations)
        results[f"fixed cosine {threshold_cosine:g}"] = evaluate_fixed(
            observations, threshold_cosine
        )
        notes = [await near_miss_part(scratch, eval_set, observations)]
    report = abstention_report(eval_set.name, results, notes, with_questions=with_questions)
    return next(iter(results.values())).summary(), await _write(report, reports)


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
    return result, await _write(sample_report(result), reports)


async def calibrate_served(
    folder: Path,
    settings: IngestionSettings,
    target: Target,
    *,
    reports: Path | None = None,
) -> tuple[Calibration, Written | None]:
    """Calibrate the guard on the index in force.

    Args:
        folder: Holds answerable and unanswerable questions about what is served.
        settings: Where the index is.
        target: What the threshold is chosen for.
        reports: Where reports go; None writes none.

    Raises:
        CalibrationRefusedError: No threshold is emitted, and why.
        IndexUnavailableError: Nothing is published yet.
    """
    eval_set = load_set(folder)
    async with (
        open_workbench(settings) as bench,
        open_served(settings, bench, DEFAULT_PROFILES) as served,
    ):
        observations = await observe_set(served, eval_set)
        made = calibrate(observations, served.manifest, name=eval_set.name, target=target)
    return made, await _write(calibration_report(made), reports)


def read_artefact(path: Path) -> CalibrationArtefact:
    """Read an exported artefact.

    Raises:
        EvalSetError: It is not one.
    """
    try:
        return CalibrationArtefact.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        message = f"{path} is no calibration artefact: {error}"
        raise EvalSetError(message) from error


def _with_corpus(eval_set: EvalSet) -> EvalSet:
    if not eval_set.sections:
        message = f"{eval_set.folder} holds no corpus.jsonl to index"
        raise EvalSetError(message)
    return eval_set


def _of_both_classes(
    observations: tuple[Observation, ...], folder: Path
) -> tuple[Observation, ...]:
    if len({one.is_answerable for one in observations}) == 1:
        message = f"{folder} needs answerable and unanswerable questions"
        raise EvalSetError(message)
    return observations


async def _write(report: Report, reports: Path | None) -> Written | None:
    if reports is None:
        return None
    return Written(*await asyncio.to_thread(write_report, report, reports))
