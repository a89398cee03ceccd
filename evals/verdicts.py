"""What the command line calls for verdicts: abstention, calibration, and the check for drift."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from pydantic import ValidationError

from backend.verdict.calibration_artefact import CalibrationArtefact, Target
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
from evals.drift import DriftReport, check_drift
from evals.entry import Written, default_profiles, write
from evals.errors import EvalSetError
from evals.kept import changed_share, keep_artefact, live_signals, note_check, read_in_force
from evals.near_miss import near_miss_part
from evals.negatives import (
    foreign,
    observe_held_out,
    observe_synthetic,
    synthetic,
    synthetic_questions,
)
from evals.observations import Observation, observe, observe_set
from evals.scratch import Scratch, open_scratch, silent
from evals.served import open_served
from evals.sets import EvalSet, Question, load_set
from evals.workbench import Workbench, open_workbench
from ingestion.report import Progress
from ingestion.settings import IngestionSettings
from storage.database import Database

_SYNTHETIC = 60
_DEFAULT_TARGET = Target(kind="over_refusal", limit=0.05)


async def eval_abstention(
    folder: Path,
    settings: IngestionSettings,
    *,
    calibration: Path | None = None,
    threshold_cosine: float,
    negatives_from: Sequence[Path] = (),
    export: Path | None = None,
    with_questions: bool = True,
    reports: Path | None = None,
    progress: Progress = silent,
) -> tuple[AbstentionSummary, Written | None]:
    """Measure what the guard refuses, cross-validated or with an artefact made elsewhere.

    A set without a corpus, such as labelled records, is asked of the index in force.

    Args:
        folder: Holds answerable and unanswerable questions, and the corpus they are about.
        settings: Where the data is and how documents are cut.
        calibration: An artefact, used unchanged; None cross-validates.
        threshold_cosine: The fixed default, for comparison.
        negatives_from: Sets about other matters whose questions count as unanswerable here.
        export: Where an artefact fitted on this set is written, to be evaluated on another.
        with_questions: Let the report name questions.
        reports: Where reports go; None writes none.
        progress: Called while passages are embedded.

    Raises:
        EvalSetError: The folder is no labelled set, or the artefact cannot be read.
        CalibrationRefusedError: An artefact is wanted and the set gives none.
        IndexUnavailableError: The set has no corpus, and nothing is published.
    """
    eval_set = load_set(folder)
    artefact = read_artefact(calibration) if calibration else None
    async with (
        open_workbench(settings) as bench,
        _open(eval_set, settings, bench, progress) as scratch,
    ):
        observations = (
            *await observe_set(scratch, eval_set),
            *await _further_negatives(scratch, eval_set, negatives_from),
        )
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
        if export:
            made = calibrate(
                observations, scratch.manifest, name=name_of(eval_set), target=_DEFAULT_TARGET
            )
            await asyncio.to_thread(write_artefact, made.artefact, export)
    report = abstention_report(eval_set.name, results, notes, with_questions=with_questions)
    return next(iter(results.values())).summary(), await write(report, reports)


def _open(
    eval_set: EvalSet, settings: IngestionSettings, bench: Workbench, progress: Progress
) -> AbstractAsyncContextManager[Scratch]:
    """Open an index of the set's own corpus, or the one in force when it brings none."""
    if not eval_set.sections:
        return open_served(settings, bench, default_profiles())
    return open_scratch(eval_set, bench, profiles=default_profiles(), progress=progress)


async def calibrate_served(
    folder: Path,
    settings: IngestionSettings,
    target: Target,
    *,
    database: Database | None = None,
    negatives_from: Sequence[Path] = (),
    reports: Path | None = None,
) -> tuple[Calibration, Written | None]:
    """Calibrate the guard on the index in force.

    Args:
        folder: Holds answerable and unanswerable questions about what is served.
        settings: Where the index is.
        target: What the threshold is chosen for.
        database: Where the artefact is put in force; None leaves the one in force alone.
        negatives_from: Sets about other matters whose questions count as unanswerable here.
        reports: Where reports go; None writes none.

    Raises:
        CalibrationRefusedError: No threshold is emitted, and why.
        IndexUnavailableError: Nothing is published yet.
    """
    eval_set = load_set(folder)
    async with (
        open_workbench(settings) as bench,
        open_served(settings, bench, default_profiles()) as served,
    ):
        observations = (
            *await observe_set(served, eval_set),
            *await observe_synthetic(served, eval_set.synthetic, served.places),
            *await _foreign(served, negatives_from),
        )
        made = calibrate(observations, served.manifest, name=name_of(eval_set), target=target)
    if database is not None:
        await keep_artefact(database, made.artefact)
    return made, await write(calibration_report(made), reports)


async def check_served(
    settings: IngestionSettings, database: Database, *, newest: int = 500
) -> DriftReport:
    """Compare recorded asks and the index in force with the calibration in force, and note it.

    Args:
        settings: Where the index is.
        database: Where the calibration and the asks are kept.
        newest: At most so many of the newest asks are looked at.

    Raises:
        EvalSetError: There is no calibration to check.
        IndexUnavailableError: Nothing is published.
    """
    kept = await read_in_force(database)
    live = await live_signals(database, newest)
    report = check_drift(kept.artefact, live)
    change = await changed_share(settings, kept.artefact)
    build, share = change.build, change.share
    if change.mismatched:
        named = ", ".join(change.mismatched)
        report = _failed(
            report, f"the index has another {named} than the calibration, so it is void"
        )
    elif share > kept.artefact.drift_limit:
        report = _failed(
            report,
            f"{share:.0%} of the chunks differ from those of the calibration, more than the "
            f"{kept.artefact.drift_limit:.0%} it allows",
        )
    await note_check(database, kept, build=build, share=share, passed=report.passed)
    return report


async def make_negatives(settings: IngestionSettings, count: int) -> tuple[Question, ...]:
    """Return synthetic unanswerable questions about the index in force.

    Args:
        settings: Where the index is.
        count: At most so many.

    Raises:
        IndexUnavailableError: Nothing is published yet.
        EvalSetError: No heading of the index names anything that could be asked about.
    """
    async with (
        open_workbench(settings) as bench,
        open_served(settings, bench, default_profiles()) as served,
    ):
        made = synthetic_questions(served.places.headings, count)
    if not made:
        raise EvalSetError("no heading of this index names anything that could be asked about")
    return made


def write_artefact(artefact: CalibrationArtefact, path: Path) -> None:
    """Write an artefact as ``read_artefact`` reads it."""
    path.write_text(artefact.model_dump_json(indent=2) + "\n", encoding="utf-8")


def name_of(eval_set: EvalSet) -> str:
    """Return the name of an artefact made of a set, which tells of synthetic questions."""
    return f"{eval_set.name} (with synthetic negatives)" if eval_set.synthetic else eval_set.name


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


def _failed(report: DriftReport, why: str) -> DriftReport:
    message = f"{why}; calibrate again. {report.message}"
    return report.model_copy(update={"passed": False, "message": message})


async def _foreign(searches: Scratch, others: Sequence[Path]) -> tuple[Observation, ...]:
    return await observe(searches, foreign([load_set(other) for other in others]), "unanswerable")


async def _further_negatives(
    scratch: Scratch, eval_set: EvalSet, others: Sequence[Path]
) -> tuple[Observation, ...]:
    """Return questions of other corpora, and synthetic ones where a set has no negatives at all."""
    found = await _foreign(scratch, others)
    if eval_set.synthetic:
        made = await observe_synthetic(scratch, eval_set.synthetic, scratch.places)
        return (*found, *made)
    if eval_set.unanswerable or found:
        return found
    held_out = synthetic(eval_set.sections, _SYNTHETIC)
    return await observe_held_out(scratch, held_out, scratch.sections_of)
