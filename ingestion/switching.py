"""Putting an older or newer build in force, as a job."""

from __future__ import annotations

from ingestion.errors import UnknownBuildError
from retrieval.catalog import Catalog


async def publish_build(catalog: Catalog, build: str) -> str:
    """Put a complete build in force and return its name.

    Raises:
        UnknownBuildError: There is none of that name.
        IndexUnavailableError: The index cannot be reached.
    """
    if build not in {manifest.build for manifest in await catalog.list()}:
        raise UnknownBuildError(f"there is no complete build {build}")
    await catalog.publish(build)
    return build


async def roll_back(catalog: Catalog) -> str:
    """Put the newest build older than the one in force back in force and return its name.

    Raises:
        UnknownBuildError: There is none.
        IndexUnavailableError: The index cannot be reached.
    """
    current = await catalog.pointer()
    if not any(manifest.build < current for manifest in await catalog.list()):
        raise UnknownBuildError("there is no older build to go back to")
    return (await catalog.rollback()).build
