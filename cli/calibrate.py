"""``vouch calibrate``: fit the guard on labelled questions, keep the artefact, watch it drift."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from rich.markup import escape

from backend.verdict.calibration_artefact import CalibrationArtefact, Target
from cli.console import err, out, print_json
from cli.migrate import database_urls
from cli.settings import UpSettings
from cli.shelf import put_card, shelf
from evals.calibration_report import promise
from evals.drift import DriftReport
from evals.errors import CalibrationRefusedError
from evals.kept import keep_artefact
from evals.verdicts import (
    calibrate_served,
    check_served,
    make_negatives,
    read_artefact,
    write_artefact,
)
from ingestion.settings import IngestionSettings
from storage.database import Database


def run_calibrate(
    folder: Path,
    *,
    kind: Literal["leak", "over_refusal"],
    limit: float,
    negatives_from: Sequence[Path],
    export: Path | None,
    reports: Path | None,
    keep: bool,
    as_json: bool,
) -> None:
    """Fit, certify, and put the artefact in force.

    Raises:
        CalibrationRefusedError: No threshold is emitted; the questions at fault are printed.
        IndexUnavailableError: Nothing is published, or another process holds the index.
    """
    target = Target(kind=kind, limit=limit)
    with _named_blockers():
        made, written = asyncio.run(
            calibrate_served(
                folder,
                IngestionSettings(),
                target,
                negatives_from=negatives_from,
                reports=shelf(reports),
            )
        )
    artefact = made.artefact
    put_card(written, artefact.operating.model_dump(mode="json"))
    if export:
        write_artefact(artefact, export)
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


def run_negatives(count: int, output: Path | None, *, as_json: bool) -> None:
    """Make synthetic unanswerable questions about the index in force.

    Raises:
        IndexUnavailableError: Nothing is published.
        EvalSetError: No heading of the index names anything that could be asked about.
    """
    made = asyncio.run(make_negatives(IngestionSettings(), count))
    rows = [
        one.model_dump(
            mode="json", include={"id", "question", "answerable", "kind", "band", "held_out"}
        )
        for one in made
    ]
    if output:
        lines = (json.dumps(row, ensure_ascii=False) for row in rows)
        output.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    if as_json:
        print_json({"n": len(rows), "questions": rows})
        return
    for one in made:
        out.print(f"{one.question}  [dim]without {escape(one.held_out)!r}[/dim]")
    out.print(
        f"{len(made)} synthetic questions; each is unanswerable only while its heading is held out"
    )
    if output:
        out.print(f"written to {output}: strike out what another page answers, then calibrate")


def run_check(newest: int, *, as_json: bool) -> bool:
    """Compare the signals of recorded asks with those of the calibration in force.

    Args:
        newest: At most so many of the newest asks.
        as_json: Print one JSON object.

    Returns:
        Whether it still holds.

    Raises:
        EvalSetError: There is none in force.
    """
    report = asyncio.run(_check(newest))
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        out.print(report.message)
        for signal in report.signals:
            mark = "[red]drifted[/red]" if signal.has_drifted else "ok"
            out.print(f"  {signal.name:<20} {signal.distance:.3f} of {signal.limit:.3f}  {mark}")
    return report.passed


@contextmanager
def _named_blockers() -> Generator[None]:
    """Print the questions that stand in the way of a calibration, before its reason is."""
    try:
        yield
    except CalibrationRefusedError as error:
        if error.blockers:
            err.print("Questions on the wrong side, worst first:")
        for line in error.blockers:
            err.print(f"  {escape(line)}")
        raise


async def save(artefact: CalibrationArtefact) -> None:
    """Store an artefact and put it in force."""
    database = _database()
    try:
        await keep_artefact(database, artefact)
    finally:
        await database.close()


async def _check(newest: int) -> DriftReport:
    database = _database()
    try:
        return await check_served(IngestionSettings(), database, newest=newest)
    finally:
        await database.close()


def _database() -> Database:
    return Database(database_urls(UpSettings())[0])
