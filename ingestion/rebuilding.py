"""An index made anew from what is kept beside it: no document is read, no text embedded.

For moving between the embedded index and a server, or after a change of the engine's own settings.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Literal

from pydantic import SecretStr

from ingestion.building import Publisher
from ingestion.dedup import deduplicate
from ingestion.errors import CarryOverError, IngestionError
from ingestion.exclusive import exclusive
from ingestion.gathering import Gathered, GatheredDocument
from ingestion.passage_vectors import PassageVectors, put_together, texts_to_embed
from ingestion.records import BuildRecords
from ingestion.report import Progress
from ingestion.settings import IngestionSettings
from retrieval.chunk import Chunk
from retrieval.manifest import Manifest
from retrieval.opening import open_catalog, open_vectors
from retrieval.opening_models import open_sparse_encoder
from retrieval.vectors import VectorCache, vector_key

EngineName = Literal["same", "embedded", "qdrant"]


def target_settings(settings: IngestionSettings, engine: EngineName, to: str) -> IngestionSettings:
    """Return the settings of the place where the new build goes.

    Args:
        settings: Where the present build is.
        engine: Kind of the new place; ``same`` leaves it.
        to: Address of a Qdrant server, or a data folder for the embedded engine.

    Raises:
        IngestionError: Engine and place do not go together.
    """
    is_address = to.startswith(("http://", "https://"))
    if engine == "same":
        engine = ("qdrant" if is_address else "embedded") if to else "same"
    if engine == "qdrant":
        url = to or settings.qdrant_url
        if not url.startswith(("http://", "https://")):
            raise IngestionError("name the Qdrant server: --to http://host:6333, or QDRANT_URL")
        return settings.model_copy(update={"qdrant_url": url})
    if engine == "embedded":
        if is_address:
            raise IngestionError("the embedded engine needs a folder, not an address")
        folder = Path(to) if to else settings.data_dir
        return settings.model_copy(
            update={"qdrant_url": "", "qdrant_api_key": SecretStr(""), "data_dir": folder}
        )
    return settings


async def rebuild(
    settings: IngestionSettings, target: IngestionSettings, progress: Progress
) -> Manifest:
    """Make the build in force anew in another place, or in the same one, and put it in force there.

    Raises:
        CarryOverError: Records or vectors of the build in force are missing.
        RetrievalError: An index cannot be used.
    """
    catalog = open_catalog(settings)
    try:
        manifest = await catalog.current()
    finally:
        await catalog.close()
    if manifest is None:
        raise CarryOverError("no build is in force, so there is nothing to make anew")
    if manifest.stamp.late_model:
        raise CarryOverError("late-interaction vectors are not kept; ingest the documents again")
    gathered = await asyncio.to_thread(_gather, settings, manifest)
    unique = deduplicate([document.record for document in gathered.documents])
    points = await asyncio.to_thread(_points, settings, manifest, unique.chunks)
    place = open_catalog(target)
    try:
        with exclusive(target.lock_path):
            publisher = Publisher(
                place, BuildRecords(target.records_dir), open_sparse_encoder(settings), None,
                progress, target.keep_builds,
            )  # fmt: skip
            return await publisher.publish(
                gathered, points, duplicates=unique.duplicates, stamp=manifest.stamp,
                profile=manifest.profile, expect=None,
            )  # fmt: skip
    finally:
        await place.close()


def _gather(settings: IngestionSettings, manifest: Manifest) -> Gathered:
    records = BuildRecords(settings.records_dir)
    gathered = Gathered()
    for source in sorted(manifest.sources):
        found = records.read(manifest.build, source)
        if not found:
            raise CarryOverError(f"build {manifest.build} has no record of source {source!r}")
        gathered.documents += [GatheredDocument(r, "carried_over", {}) for r in found.values()]
    return gathered


def _points(
    settings: IngestionSettings, manifest: Manifest, chunks: tuple[Chunk, ...] | list[Chunk]
) -> list[tuple[Chunk, PassageVectors]]:
    stamp = manifest.stamp
    keys = [
        vector_key(stamp.model_digest, stamp.passage_prefix, text)
        for text in texts_to_embed(chunks)
    ]
    cache: VectorCache = open_vectors(settings)
    try:
        known = cache.get_many(keys)
    finally:
        cache.close()
    missing = sum(key not in known for key in keys)
    if missing:
        raise CarryOverError(
            f"{missing} of {len(keys)} vectors are not kept any more; ingest the documents again"
        )
    return put_together(chunks, [known[key] for key in keys])
