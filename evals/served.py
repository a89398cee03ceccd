"""The index in force, opened for an evaluation while a server may be serving it.

An embedded build belongs to the process that serves it. A published build never changes, so a copy
of it is as good as itself and takes nothing from the server. On a Qdrant server there is nothing to
copy: the same collection is read.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from evals.scratch import Scratch, open_engine_on
from evals.workbench import Workbench
from retrieval.builds import BuildCatalog
from retrieval.catalog import Catalog
from retrieval.errors import IndexUnavailableError
from retrieval.opening import open_catalog
from retrieval.profiles import SearchProfile
from retrieval.settings import RetrievalSettings


@asynccontextmanager
async def open_served(
    settings: RetrievalSettings, bench: Workbench, profiles: Mapping[str, SearchProfile]
) -> AsyncGenerator[Scratch]:
    """Open the build in force.

    Raises:
        IndexUnavailableError: Nothing is published yet.
    """
    catalog: Catalog = open_catalog(settings)
    manifest = await catalog.current()
    if manifest is None:
        message = "no build is published yet, so there is nothing to measure; run `vouch ingest`"
        raise IndexUnavailableError(message)
    if not settings.qdrant_url:
        copy = bench.directory / "served"
        await asyncio.to_thread(_copy, settings, manifest.build, copy)
        catalog = BuildCatalog(copy, settings.collection)
    async with open_engine_on(catalog, bench, profiles) as served:
        yield served


def _copy(settings: RetrievalSettings, build: str, target: Path) -> None:
    """Copy one build and make it the one in force there; copies of others are removed."""
    collection = Path("collections") / settings.collection
    builds = target / collection / "builds"
    if builds.is_dir():
        for other in builds.iterdir():
            if other.name != build:
                shutil.rmtree(other, ignore_errors=True)
    if not (builds / build / "manifest.json").is_file():
        shutil.rmtree(builds / build, ignore_errors=True)
        shutil.copytree(settings.data_dir / collection / "builds" / build, builds / build)
    (target / collection / "current").write_text(f"{build}\n", encoding="ascii")
