"""The index in force, opened for an evaluation while a server may be serving it.

An embedded build belongs to the process that serves it. A published build never changes, so a copy
of it is as good as itself and takes nothing from the server. On a Qdrant server there is nothing to
copy: the same collection is read.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

from evals.scratch import Scratch, open_engine_on
from evals.workbench import Workbench
from retrieval.builds import BuildCatalog
from retrieval.catalog import Catalog
from retrieval.copying import copy_build
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
        await asyncio.to_thread(copy_build, settings, manifest.build, copy)
        catalog = BuildCatalog(copy, settings.collection)
    async with open_engine_on(catalog, bench, profiles) as served:
        yield served
