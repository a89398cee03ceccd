"""A calibration in the database, checked against recorded asks and the index in force."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from pydantic import JsonValue

from backend.verdict.calibration_artefact import CalibrationArtefact, Target
from evals.calibrate import calibrate
from evals.errors import EvalSetError
from evals.kept import changed_share, keep_artefact, note_check, numbers_in, read_in_force
from ingestion.run import ingest
from ingestion.settings import IngestionSettings
from ingestion.sources import source_from
from retrieval.opening import open_catalog
from storage.database import Database, database_url
from storage.migrate import upgrade
from tests.evals.fakes import separated
from tests.evals.test_calibrate import MANIFEST


@pytest.fixture
def settings(tmp_path: Path) -> IngestionSettings:
    return IngestionSettings(data_dir=tmp_path / "data")


async def publish(settings: IngestionSettings, folder: Path) -> CalibrationArtefact:
    await ingest([source_from(str(folder), name="docs")], settings, lambda _: None)
    catalog = open_catalog(settings)
    manifest = await catalog.current()
    await catalog.close()
    assert manifest is not None
    target = Target(kind="over_refusal", limit=0.05)
    return calibrate(separated(), manifest, name="set", target=target).artefact


def write_pages(folder: Path, count: int) -> Path:
    folder.mkdir(exist_ok=True)
    for number in range(count):
        (folder / f"page{number}.md").write_text(f"# Page {number}\n\nFact number {number}.\n")
    return folder


async def test_share_of_changed_chunks_is_counted_while_the_calibrated_build_is_kept(
    settings: IngestionSettings, tmp_path: Path
) -> None:
    folder = write_pages(tmp_path / "docs", 4)
    artefact = await publish(settings, folder)
    assert (await changed_share(settings, artefact)).share == 0.0
    (folder / "page0.md").write_text("# Page 0\n\nAnother fact.\n")
    again = await publish(settings, folder)
    change = await changed_share(settings, artefact)
    assert change.build == again.stamp.build
    assert change.share == pytest.approx(2 / 5)
    assert change.mismatched == ()
    stamp = artefact.stamp.model_copy(update={"header_format": "other", "chunker": "other"})
    void = await changed_share(settings, artefact.model_copy(update={"stamp": stamp}))
    assert void.mismatched == ("header format", "chunker")


async def test_without_the_calibrated_build_the_difference_in_number_is_known(
    settings: IngestionSettings, tmp_path: Path
) -> None:
    artefact = await publish(settings, write_pages(tmp_path / "docs", 4))
    stamp = artefact.stamp.model_copy(update={"content_digest": "gone", "chunks": 5})
    forgotten = artefact.model_copy(update={"stamp": stamp})
    assert (await changed_share(settings, forgotten)).share == pytest.approx(1 / 5)


async def test_a_check_is_noted_beside_the_calibration_in_force(tmp_path: Path) -> None:
    url = database_url(None, tmp_path, "vouch.db")
    await asyncio.to_thread(upgrade, url)
    database = Database(url)
    try:
        with pytest.raises(EvalSetError, match="no calibration to check"):
            await read_in_force(database)
        target = Target(kind="over_refusal", limit=0.05)
        artefact = calibrate(separated(), MANIFEST, name="set", target=target).artefact
        await keep_artefact(database, artefact)
        kept = await read_in_force(database)
        assert kept.artefact == artefact
        await note_check(database, kept, build="b", share=0.2, passed=False)
        assert (await read_in_force(database)).calibration_id == artefact.digest()
    finally:
        await database.close()


def test_a_recorded_verdict_gives_its_signals_and_nothing_else() -> None:
    verdict: dict[str, JsonValue] = {
        "passed": True,
        "signals": {"best_cosine": 0.5, "hit_count": 3, "missing_terms": [], "more": {"focus": 1}},
    }
    assert numbers_in(verdict) == {"best_cosine": 0.5, "hit_count": 3.0, "focus": 1.0}
    assert numbers_in({}) == {}
    assert numbers_in({"signals": {"best_cosine": None, "more": {}}}) == {}


def test_signals_a_header_lifted_are_read_as_the_guard_judged_them() -> None:
    lifted = {"best_cosine": 0.5, "sparse_per_term": 0.6, "own_cosine": 0.2}
    verdict: dict[str, JsonValue] = {"signals": {**lifted, "more": {"own_sparse_per_term": 0.1}}}
    assert numbers_in(verdict)["best_cosine"] == 0.2
    assert numbers_in(verdict)["sparse_per_term"] == 0.1
