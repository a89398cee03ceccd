"""An index made anew without the model and without the documents."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ingestion.errors import CarryOverError, IngestionError
from ingestion.rebuilding import rebuild, target_settings
from ingestion.run import run
from ingestion.settings import IngestionSettings
from ingestion.sources import source_from
from retrieval.opening import open_catalog
from retrieval.store import Filter
from tests.ingestion.fakes import HashEmbedder, Recorder
from tests.ingestion.hash_tools import hash_tools


def write(docs: Path) -> None:
    docs.mkdir()
    (docs / "a.md").write_text("# Alpha\n\nThe first fact.\n")
    (docs / "b.md").write_text("# Beta\n\nThe second fact.\n")


async def ingest(settings: IngestionSettings, docs: Path) -> None:
    write(docs)
    tools = hash_tools(HashEmbedder())(settings)
    await run([source_from(str(docs))], tools, settings, Recorder())
    await tools.close()


async def texts(settings: IngestionSettings) -> list[str]:
    catalog = open_catalog(settings)
    opened = await catalog.open(await catalog.pointer())
    everything = Filter(all_labels=True)
    found = sorted([p.chunk.text async for p in opened.store.scan(where=everything)])
    await opened.store.close()
    return found


async def test_an_index_moves_to_another_folder_without_model_or_documents(tmp_path: Path) -> None:
    settings = IngestionSettings(data_dir=tmp_path / "data")
    await ingest(settings, tmp_path / "docs")
    shutil.rmtree(tmp_path / "docs")
    target = target_settings(settings, "embedded", str(tmp_path / "other"))
    manifest = await rebuild(settings, target, Recorder())
    before = await open_catalog(settings).current()
    assert before is not None
    assert (manifest.stamp, manifest.content_digest) == (before.stamp, before.content_digest)
    assert await texts(target) == await texts(settings) == ["The first fact.", "The second fact."]


async def test_the_vectors_of_parts_move_along(tmp_path: Path) -> None:
    settings = IngestionSettings(data_dir=tmp_path / "data")
    sentences = " ".join(f"The fact of number {n} is worth a mention here." for n in range(14))
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(f"# Alpha\n\n{sentences}\n")
    tools = hash_tools(HashEmbedder())(settings)
    await run([source_from(str(tmp_path / "docs"))], tools, settings, Recorder())
    await tools.close()
    target = target_settings(settings, "embedded", str(tmp_path / "other"))
    assert (await rebuild(settings, target, Recorder())).stamp.parts == "windows-1(60/20)"
    before, after = await nearness(settings), await nearness(target)
    assert len(before) >= 1
    assert after == pytest.approx(before, abs=1e-6)


async def nearness(settings: IngestionSettings) -> dict[str, float]:
    catalog = open_catalog(settings)
    opened = await catalog.open(await catalog.pointer())
    everything = Filter(all_labels=True)
    ids = [point.chunk.chunk_id async for point in opened.store.scan(where=everything)]
    query = HashEmbedder().embed_query("number 13")
    found = await opened.store.part_cosines(query, ids, where=everything)
    await opened.store.close()
    return found


async def test_an_index_is_made_anew_in_its_place(tmp_path: Path) -> None:
    settings = IngestionSettings(data_dir=tmp_path / "data")
    await ingest(settings, tmp_path / "docs")
    first = await open_catalog(settings).pointer()
    manifest = await rebuild(settings, target_settings(settings, "same", ""), Recorder())
    assert await open_catalog(settings).pointer() == manifest.build != first


async def test_without_its_vectors_an_index_is_not_made_anew(tmp_path: Path) -> None:
    settings = IngestionSettings(data_dir=tmp_path / "data")
    await ingest(settings, tmp_path / "docs")
    settings.vectors_path.unlink()
    with pytest.raises(CarryOverError, match="2 of 2 vectors"):
        await rebuild(settings, settings, Recorder())


@pytest.mark.parametrize(
    ("engine", "to"), [("qdrant", ""), ("qdrant", "folder"), ("embedded", "http://host:6333")]
)
def test_engine_and_place_must_go_together(engine: str, to: str) -> None:
    with pytest.raises(IngestionError):
        target_settings(IngestionSettings(), engine, to)  # type: ignore[arg-type]


def test_an_address_means_a_server() -> None:
    target = target_settings(IngestionSettings(), "same", "http://host:6333")
    assert target.qdrant_url == "http://host:6333"
