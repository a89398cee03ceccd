"""``vouch calibrate``: fit the guard on labelled questions, keep the artefact, watch it drift."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Literal

from pydantic import JsonValue

from backend.calibration_artefact import CalibrationArtefact, Target
from backend.contract import AskResponse
from cli.console import out, print_json
from cli.migrate import database_urls
from cli.settings import UpSettings
from evals.calibration_report import promise
from evals.drift import DriftReport, check_drift
from evals.entry import calibrate_served, read_artefact
from ingestion.settings import IngestionSettings
from service.errors import VouchError
from storage.asks import AskStore
from storage.calibrations import CalibrationRecord, CalibrationStore
from storage.database import Database

_LIVE_ASKS = 2000


class NoCalibrationError(VouchError):
    """There is no calibration to check or export."""

    code = "no_calibration"


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
        NoCalibrationError: There is none in force.
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
        content: dict[str, JsonValue] = artefact.model_dump(mode="json")
        await CalibrationStore(database).save(
            CalibrationRecord(id=artefact.digest(), name=artefact.name, artefact=content)
        )
    finally:
        await database.close()


async def _check() -> DriftReport:
    database = _database()
    try:
        store = CalibrationStore(database)
        record = await store.in_force()
        if record is None:
            raise NoCalibrationError("no calibration is in force; run `vouch calibrate SET` first")
        artefact = CalibrationArtefact.model_validate(record.artefact)
        asks = await AskStore(database).recent(limit=_LIVE_ASKS)
        responses = [AskResponse.model_validate(ask.response) for ask in asks]
        report = check_drift(artefact, [_signals(response) for response in responses])
        check: dict[str, JsonValue] = {
            "build": responses[0].index.build if responses else artefact.stamp.build,
            "passed": report.passed,
            "created_at": responses[0].created_at if responses else artefact.created_at,
        }
        await store.note_check(record.id, check)
        return report
    finally:
        await database.close()


def _signals(response: AskResponse) -> dict[str, float]:
    signals = response.guard.signals
    named = signals.model_dump(exclude={"more", "missing_terms"})
    numbers = {name: float(value) for name, value in named.items() if value is not None}
    return numbers | signals.more


def _database() -> Database:
    return Database(database_urls(UpSettings())[0])
