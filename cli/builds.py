"""``vouch builds`` and ``vouch verify``: what is published, what was, and whether it is whole."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from rich.table import Table

from cli.console import out, print_json
from cli.ingest import ProgressLines
from ingestion.rebuilding import EngineName, rebuild, target_settings
from ingestion.settings import IngestionSettings
from ingestion.switching import publish_build
from ingestion.verify import Expectation, Verification, verify
from retrieval.builds import BuildCatalog
from retrieval.catalog import Catalog, OpenedBuild
from retrieval.copying import copy_build
from retrieval.errors import IndexUnavailableError
from retrieval.manifest import Manifest
from retrieval.opening import open_catalog


def run_list(*, as_json: bool) -> None:
    """Print every complete build, the one in force marked."""
    builds, current = asyncio.run(_listing())
    if as_json:
        print_json({"current": current, "builds": [b.model_dump(mode="json") for b in builds]})
        return
    table = Table(box=None, header_style="bold")
    for heading in ("", "build", "created", "chunks", "documents", "model", "profile"):
        # A build is named to other commands: its name is shown whole on the narrowest terminal.
        table.add_column(heading, no_wrap=heading == "build", overflow="fold")
    for build in builds:
        mark = "*" if build.build == current else ""
        table.add_row(
            mark, build.build, build.created_at, str(build.chunks), str(build.documents),
            build.stamp.embedding_model, build.profile,
        )  # fmt: skip
    out.print(table)


def run_rollback() -> None:
    """Put the build before the one in force back in force.

    Raises:
        IndexUnavailableError: There is none.
    """
    manifest = asyncio.run(_with_catalog(lambda catalog: catalog.rollback()))
    out.print(f"build {manifest.build} of {manifest.created_at} is in force")


def run_publish(build: str) -> None:
    """Put a build in force.

    Raises:
        UnknownBuildError: There is none of that name.
    """
    asyncio.run(_with_catalog(lambda catalog: publish_build(catalog, build)))
    out.print(f"build {build} is in force")


def run_rebuild(engine: EngineName, to: str) -> None:
    """Make the build in force anew, here or elsewhere.

    Raises:
        IngestionError: Engine and place do not go together, or something is not kept any more.
        RetrievalError: An index cannot be used.
    """
    settings = IngestionSettings()
    target = target_settings(settings, engine, to)
    with ProgressLines() as lines:
        manifest = asyncio.run(rebuild(settings, target, lines.show))
    place = target.qdrant_url or target.data_dir
    out.print(f"build {manifest.build} is in force in {place}: {manifest.chunks} chunks")


def run_gc(keep: int) -> None:
    """Remove builds beyond the newest ``keep``, and what interrupted runs left behind."""
    removed = asyncio.run(_with_catalog(lambda catalog: catalog.gc(keep)))
    out.print(f"removed {len(removed)} builds" + "".join(f"\n  {name}" for name in removed))


def run_verify(expect: str, *, as_json: bool) -> None:
    """Check the build in force, chunk by chunk.

    Raises:
        VerificationError: It is not whole; every problem is listed.
        IndexUnavailableError: Nothing is published, or another process holds the index.
    """
    verification = asyncio.run(_verify(Expectation.parse(expect) if expect else None))
    if as_json:
        print_json(
            {
                "build": verification.build,
                "chunks": verification.chunks,
                "dimension": verification.dimension,
                "problems": list(verification.problems),
            }
        )
    verification.require()
    if not as_json:
        out.print(
            f"build {verification.build} is whole: {verification.chunks} chunks, "
            f"dimension {verification.dimension}"
        )


async def _listing() -> tuple[tuple[Manifest, ...], str]:
    catalog = open_catalog(IngestionSettings())
    try:
        return await catalog.list(), await catalog.pointer()
    finally:
        await catalog.close()


async def _verify(expect: Expectation | None) -> Verification:
    settings = IngestionSettings()
    catalog = open_catalog(settings)
    try:
        manifest = await catalog.current()
        if manifest is None:
            raise IndexUnavailableError("no build is published; run `vouch ingest` first")
        try:
            opened = await catalog.open(manifest.build)
        except IndexUnavailableError:
            if settings.qdrant_url:
                raise
            return await _verify_copy(settings, manifest, expect)
        return await _verify_opened(opened, manifest, expect)
    finally:
        await catalog.close()


async def _verify_copy(
    settings: IngestionSettings, manifest: Manifest, expect: Expectation | None
) -> Verification:
    """Verify a copy, because the build itself belongs to the process that serves it."""
    with tempfile.TemporaryDirectory(prefix="verify-", dir=settings.data_dir) as folder:
        await asyncio.to_thread(copy_build, settings, manifest.build, Path(folder))
        catalog = BuildCatalog(Path(folder), settings.collection)
        try:
            return await _verify_opened(await catalog.open(manifest.build), manifest, expect)
        finally:
            await catalog.close()


async def _verify_opened(
    opened: OpenedBuild, manifest: Manifest, expect: Expectation | None
) -> Verification:
    try:
        return await verify(opened.store, manifest, expect=expect)
    finally:
        await opened.store.close()


_Result = TypeVar("_Result")


async def _with_catalog(work: Callable[[Catalog], Awaitable[_Result]]) -> _Result:
    catalog = open_catalog(IngestionSettings())
    try:
        return await work(catalog)
    finally:
        await catalog.close()
