"""``python -m ingestion SOURCE...``: one run from the command line, without the terminal client.

``sample`` names the sample corpus. Prints the report as JSON. ``python -m ingestion worker`` runs
the worker instead.
"""

from __future__ import annotations

import argparse
import asyncio
import sys

from ingestion.errors import IngestionError
from ingestion.report import ProgressEvent
from ingestion.run import ingest
from ingestion.settings import IngestionSettings
from ingestion.sources import Source, sample_sources, source_from
from ingestion.worker import main as run_worker_process
from retrieval.errors import RetrievalError


def main() -> int:
    """Run once and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m ingestion", description=__doc__)
    parser.add_argument("sources", nargs="+", metavar="SOURCE")
    arguments = parser.parse_args()
    if arguments.sources == ["worker"]:
        return run_worker_process()
    try:
        sources = _sources(arguments.sources)
        report = asyncio.run(ingest(sources, IngestionSettings(), _silent))
    except (IngestionError, RetrievalError) as error:
        sys.stderr.write(f"{error.code}: {error}\n")
        return 1
    sys.stdout.write(report.model_dump_json(indent=2) + "\n")
    return 0


def _sources(arguments: list[str]) -> list[Source]:
    found: list[Source] = []
    for argument in arguments:
        if argument == "sample":
            found += sample_sources()
        else:
            found.append(source_from(argument))
    return found


def _silent(event: ProgressEvent) -> None:
    """Take no notice: the report says everything once the run is done."""
    del event


if __name__ == "__main__":
    sys.exit(main())
