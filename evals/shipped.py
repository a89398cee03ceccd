"""The calibration that comes with the sample corpus.

Fitted and certified on the project's own questions about it. It belongs to one model, chunker and
header format and is void with others; with another Python's text, or other pages of documentation,
it counts as drifted and says so.
"""

from __future__ import annotations

from backend.calibration import state_of
from backend.calibration_artefact import CalibrationArtefact, Target
from evals.calibrate import Calibration, calibrate
from evals.kept import keep_artefact
from evals.observations import observe_set
from evals.sample import SET_FOLDER, open_sample
from evals.verdicts import read_artefact
from evals.workbench import open_workbench
from ingestion.settings import IngestionSettings
from knowledge.contracts import IndexInfo
from storage.calibrations import CalibrationStore
from storage.database import Database

SHIPPED = SET_FOLDER / "calibration.json"
SHIPPED_TARGET = Target(kind="over_refusal", limit=0.1)
"""On the certifying half it refuses fewer answerable questions than the fixed default does, and
lets fewer unanswerable ones through."""


def shipped_artefact() -> CalibrationArtefact:
    """Return the artefact.

    Raises:
        EvalSetError: The file is missing or of another version.
    """
    return read_artefact(SHIPPED)


async def install_shipped(database: Database, index: IndexInfo) -> bool:
    """Put the shipped calibration in force where it may hold and nobody has made another.

    Args:
        database: Where calibrations are kept.
        index: The index in force.

    Returns:
        Whether it was installed.
    """
    artefact = shipped_artefact()
    if await CalibrationStore(database).in_force() is not None:
        return False
    if state_of(artefact.stamp, index, artefact.drift_limit) == "void":
        return False
    await keep_artefact(database, artefact)
    return True


async def make_shipped(settings: IngestionSettings) -> Calibration:
    """Calibrate on the sample corpus and write the artefact that is shipped.

    Raises:
        CalibrationRefusedError: No threshold is emitted, and why.
    """
    async with open_workbench(settings) as bench, open_sample(bench) as sample:
        observations = await observe_set(sample.scratch, sample.eval_set)
        made = calibrate(
            observations,
            sample.scratch.manifest,
            name=sample.eval_set.name,
            target=SHIPPED_TARGET,
        )
    SHIPPED.write_text(made.artefact.model_dump_json(indent=1) + "\n", encoding="utf-8")
    return made
