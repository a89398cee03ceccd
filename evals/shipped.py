"""Makes the calibration that comes with the sample corpus: ``python -m evals.shipped``.

Fitted and certified on the project's own questions about it. It is made anew whenever the model,
the chunker, the header format or a signal changes; ``vouch up`` puts it in force on a first start.
"""

from __future__ import annotations

import asyncio
import sys

from backend.verdict.calibration_artefact import Target
from evals.calibrate import Calibration, calibrate
from evals.calibration_report import promise
from evals.observations import observe_set
from evals.sample import SET_FOLDER, open_sample
from evals.workbench import open_workbench
from ingestion.settings import IngestionSettings

SHIPPED = SET_FOLDER / "calibration.json"
SHIPPED_TARGET = Target(kind="over_refusal", limit=0.05)


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


if __name__ == "__main__":
    sys.stdout.write(promise(asyncio.run(make_shipped(IngestionSettings()))) + "\n")
