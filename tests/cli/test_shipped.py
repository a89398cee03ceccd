"""The shipped calibration is put in force where it may hold, and nowhere else."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from cli.migrate import database_urls, run_migrate
from cli.settings import UpSettings
from cli.shipped import install_shipped, may_hold, read_shipped
from retrieval.manifest import Manifest, Stamp
from storage.calibrations import CalibrationRecord, CalibrationStore
from storage.database import Database


@pytest.fixture
def settings(tmp_path: Path) -> UpSettings:
    found = UpSettings(data_dir=tmp_path)
    run_migrate(found, quiet=True)
    return found


def _manifest(**changes: object) -> Manifest:
    stamp = read_shipped().stamp
    own = Stamp(
        embedding_model=stamp.embedding_model,
        model_digest=stamp.model_digest,
        dimension=stamp.dimension,
        header_format=stamp.header_format,
        chunker=stamp.chunker,
        sparse_model="bm25",
    )
    manifest = Manifest(
        build="b1",
        created_at="2026-01-01T00:00:00+00:00",
        profile=stamp.profile,
        stamp=own,
        chunks=stamp.chunks,
        documents=1,
        duplicates=0,
        sources={"python-reference": stamp.chunks},
        content_digest=stamp.content_digest,
        sketch=stamp.sketch,
    )
    return manifest.model_copy(update=changes)


async def _in_force(settings: UpSettings) -> CalibrationRecord | None:
    database = Database(database_urls(settings)[0])
    try:
        return await CalibrationStore(database).in_force()
    finally:
        await database.close()


def test_shipped_calibration_is_installed_once_on_the_corpus_it_was_made_for(
    settings: UpSettings,
) -> None:
    assert asyncio.run(install_shipped(settings, _manifest()))
    record = asyncio.run(_in_force(settings))
    assert record is not None
    assert record.id == read_shipped().digest()
    assert not asyncio.run(install_shipped(settings, _manifest()))


def test_shipped_calibration_is_not_installed_over_another_model_or_corpus(
    settings: UpSettings,
) -> None:
    stamp = _manifest().stamp.model_copy(update={"embedding_model": "another"})
    for manifest in (_manifest(stamp=stamp), _manifest(sketch=(1, 2, 3), content_digest="x")):
        assert not may_hold(read_shipped(), manifest)
        assert not asyncio.run(install_shipped(settings, manifest))
    assert asyncio.run(_in_force(settings)) is None
