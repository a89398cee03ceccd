"""The calibration that comes with the sample corpus, put in force when its index is first built.

It was fitted and certified on the project's own questions about that corpus. With another Python's
text or other pages of documentation it counts as drifted, with another model as void; both are
said in every response.
"""

from __future__ import annotations

import json
from pathlib import Path

from backend.verdict.calibration import state_of
from backend.verdict.calibration_artefact import CalibrationArtefact
from cli.migrate import database_urls
from cli.settings import UpSettings
from evals.kept import keep_artefact
from mcp_server.replies import index_info
from retrieval.manifest import Manifest
from retrieval.sketch import changed_share
from storage.calibrations import CalibrationStore
from storage.database import Database

SHIPPED = Path(__file__).parent.parent / "evals/sets/python_reference/calibration.json"


def read_shipped() -> CalibrationArtefact:
    """Return the artefact that is shipped."""
    return CalibrationArtefact.model_validate(json.loads(SHIPPED.read_bytes()))


def may_hold(artefact: CalibrationArtefact, manifest: Manifest) -> bool:
    """Return whether the artefact would be used on a build, drifted or not."""
    stamp = artefact.stamp
    if changed_share(stamp.sketch, manifest.sketch) > artefact.drift_limit:
        return False
    return state_of(stamp, index_info(manifest), artefact.drift_limit) != "void"


async def install_shipped(settings: UpSettings, manifest: Manifest) -> bool:
    """Put the shipped calibration in force where it may hold and nobody has made another.

    Args:
        settings: Where the database is; its tables are made when they are missing.
        manifest: Of the build in force.

    Returns:
        Whether it was installed.
    """
    artefact = read_shipped()
    if not may_hold(artefact, manifest):
        return False
    database = Database(database_urls(settings)[0])
    try:
        if await CalibrationStore(database).in_force() is not None:
            return False
        await keep_artefact(database, artefact)
    finally:
        await database.close()
    return True
