"""``vouch calibrate``: fit the guard on labelled questions, keep the artefact, watch it drift."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Literal

from backend.verdict.calibration_artefact import CalibrationArtefact, Target
from cli.console import out, print_json
from cli.migrate import database_urls
from cli.settings import UpSettings
from evals.calibration_report import promise
from evals.drift import DriftReport
from evals.kept import keep_artefact
from evals.verdicts import calibrate_served, check_served, read_artefact
from ingestion.settings import IngestionSettings
from storage.database import Database


def run_calibrate(
    folder: Path,
    *,
    kind: Literal["leak", "over_refusal"],
    limit: float,
    export: Path | None,
    reports: Path | None,
    keep: bool,
    as_json: bool,
) -> None:
    """Fit, certify, and put the artefact in force.

    Raises:
        CalibrationRefusedError: No threshold is emitted; names the questions at fault.
        IndexUnavailableError: Nothing is published, or another process holds the index.
    """
    target = Target(kind=kind, limit=limit)
    made, written = asyncio.run(
        calibrate_served(folder, IngestionSettings(), target, reports=reports)
    )
    artefact = made.artefact
    if export:
        export.write_text(artefact.model_dump_json(indent=2) + "\n")
    if keep:
        asyncio.run(save(artefact))
    if as_json:
        print_json(artefact.model_dump(mode="json"))
        return
    out.print(promise(made))
    if written:
        out.print(f"report: {written.markdown}, {written.html}")
    out.print("in force" if keep else "not kept")


def run_import(path: Path) -> None:
    """Put an exported artefact in force; it is void when it was made for another index.

    Raises:
        EvalSetError: The file is no artefact.
    """
    artefact = read_artefact(path)
    asyncio.run(save(artefact))
    out.print(f"calibration {artefact.name} of {artefact.created_at} is in force")


def run_check(*, as_json: bool) -> bool:
    """Compare the signals of recorded asks with those of the calibration in force.

    Returns:
        Whether it still holds.

    Raises:
        EvalSetError: There is none in force.
    """
    report = asyncio.run(_check())
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        out.print(report.message)
        for signal in report.signals:
            mark = "[red]drifted[/red]" if signal.has_drifted else "ok"
            out.print(f"  {signal.name:<20} {signal.distance:.3f} of {signal.limit:.3f}  {mark}")
    return report.passed


async def save(artefact: CalibrationArtefact) -> None:
    """Store an artefact and put it in force."""
    database = _database()
    try:
        await keep_artefact(database, artefact)
    finally:
        await database.close()


async def _check() -> DriftReport:
    database = _database()
    try:
        return await check_served(IngestionSettings(), database)
    finally:
        await database.close()


def _database() -> Database:
    return Database(database_urls(UpSettings())[0])
