"""Builds on disk and on a server: complete or invisible, published by one step, rolled back."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from qdrant_client import AsyncQdrantClient

from retrieval.builds import BuildCatalog
from retrieval.builds_qdrant import QdrantBuildCatalog
from retrieval.catalog import Catalog, check_stamp, content_digest, new_build_name
from retrieval.chunk import Point
from retrieval.errors import BadRequestError, BuildMismatchError, IndexUnavailableError
from retrieval.manifest import Manifest, Stamp
from retrieval.store import Filter
from tests.retrieval.corpus import DIMENSION, chunk, chunk_id, place, points

_STAMP = Stamp(
    embedding_model="fake",
    model_digest="fake-1",
    dimension=DIMENSION,
    header_format="path-1",
    chunker="structural",
    sparse_model="bm25",
)
Open = Callable[[], Awaitable[Catalog]]


@pytest.fixture(params=["disk", "server"])
async def open_catalog(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Open]:
    """Return a function that opens the same collection again, as another process would."""
    client = AsyncQdrantClient(":memory:")

    async def opened() -> Catalog:
        if request.param == "disk":
            return BuildCatalog(tmp_path, "docs")
        return QdrantBuildCatalog(client, "docs", indexed=False)

    yield opened
    await client.close()


def _points(*names: str) -> list[Point]:
    return points([chunk(name, f"The text of {name}.", place("guide")) for name in names])


async def _finished(catalog: Catalog, *names: str) -> Manifest:
    writer = await catalog.create(_STAMP, "default")
    await writer.write(_points(*names))
    manifest = await writer.finish(documents=1, duplicates=0)
    await writer.publish()
    return manifest


async def test_a_published_build_is_read_by_others(open_catalog: Open) -> None:
    manifest = await _finished(await open_catalog(), "a", "b")
    reader = await open_catalog()
    assert await reader.current() == manifest
    assert await reader.list() == (manifest,)
    assert (manifest.chunks, manifest.sources) == (2, {"guide": 2})
    opened = await reader.open(manifest.build)
    assert await opened.store.count(where=Filter()) == 2
    assert opened.statistics.visible(()).chunks == 2
    await opened.store.close()


async def test_nothing_is_visible_before_it_is_published(open_catalog: Open) -> None:
    catalog = await open_catalog()
    assert await catalog.current() is None
    writer = await catalog.create(_STAMP, "default")
    await writer.write(_points("a"))
    assert await (await open_catalog()).list() == ()
    with pytest.raises(IndexUnavailableError):
        await (await open_catalog()).open(writer.build)
    with pytest.raises(IndexUnavailableError, match="finished"):
        await writer.publish()
    await writer.finish(documents=1, duplicates=0)
    assert await (await open_catalog()).pointer() == ""


async def test_an_empty_build_fails(open_catalog: Open) -> None:
    writer = await (await open_catalog()).create(_STAMP, "default")
    with pytest.raises(IndexUnavailableError, match="no chunk was written"):
        await writer.finish(documents=0, duplicates=0)


async def test_a_count_that_differs_from_what_was_written_fails(open_catalog: Open) -> None:
    writer = await (await open_catalog()).create(_STAMP, "default")
    await writer.write(_points("a", "b", "a"))
    with pytest.raises(IndexUnavailableError, match="3 chunks were written, the index holds 2"):
        await writer.finish(documents=1, duplicates=0)


async def test_an_aborted_build_leaves_the_one_in_force(open_catalog: Open) -> None:
    catalog = await open_catalog()
    first = await _finished(catalog, "a")
    writer = await catalog.create(_STAMP, "default")
    await writer.write(_points("b"))
    await writer.abort()
    finished = await catalog.create(_STAMP, "default")
    await finished.write(_points("c"))
    await finished.finish(documents=1, duplicates=0)
    await finished.abort()
    assert await catalog.current() == first
    assert await catalog.list() == (first,)
    assert await catalog.gc(keep=5) == ()


async def test_rollback_goes_back_one_build_at_a_time(open_catalog: Open) -> None:
    catalog = await open_catalog()
    made = [await _finished(catalog, name) for name in "abc"]
    assert await catalog.rollback() == made[1]
    assert await catalog.current() == made[1]
    assert await catalog.rollback() == made[0]
    with pytest.raises(IndexUnavailableError, match="no older build"):
        await catalog.rollback()


async def _publish(catalog: Catalog, manifest: Manifest) -> None:
    assert isinstance(catalog, (BuildCatalog, QdrantBuildCatalog))
    await catalog.publish(manifest.build)


async def test_gc_keeps_the_newest_and_the_one_in_force(open_catalog: Open) -> None:
    catalog = await open_catalog()
    made = [await _finished(catalog, name) for name in "abcd"]
    await _publish(catalog, made[0])
    removed = await catalog.gc(keep=1)
    assert set(removed) == {made[1].build, made[2].build}
    assert await catalog.list() == (made[3], made[0])
    assert await catalog.current() == made[0]


async def test_a_stamp_that_differs_says_what_and_what_to_do(open_catalog: Open) -> None:
    manifest = await _finished(await open_catalog(), "a")
    same_size = _STAMP.model_copy(update={"embedding_model": "other", "model_digest": "other-1"})
    with pytest.raises(BuildMismatchError, match="'fake' in the build and 'other' here") as caught:
        check_stamp(manifest, same_size, fields=("embedding_model", "dimension"))
    assert "vouch ingest" in str(caught.value)
    check_stamp(manifest, same_size, fields=("dimension", "sparse_model"))


def test_names_of_builds_sort_by_time() -> None:
    start = datetime(2026, 11, 29, 23, 59, 59, 999_000, tzinfo=UTC)
    names = [new_build_name(start + timedelta(milliseconds=n)) for n in range(5)]
    assert names == sorted(names)
    assert names[0].startswith("20261129T235959-")


def test_equal_content_has_an_equal_digest() -> None:
    ids = [chunk_id("a"), chunk_id("b")]
    assert content_digest(ids) == content_digest(ids[::-1]) != content_digest(ids[:1])


def test_gc_removes_what_a_killed_run_left_but_not_a_run_under_way(tmp_path: Path) -> None:
    script = (
        "import asyncio, os, sys\n"
        "from pathlib import Path\n"
        "from retrieval.builds import BuildCatalog\n"
        "from tests.retrieval.test_builds import _STAMP, _points\n"
        "async def main() -> None:\n"
        "    writer = await BuildCatalog(Path(sys.argv[1]), 'docs').create(_STAMP, 'default')\n"
        "    await writer.write(_points('a'))\n"
        "    print(writer.build, flush=True)\n"
        "    sys.stdin.read()\n"
        "asyncio.run(main())\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", script, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    build = process.stdout.readline().strip()
    catalog = BuildCatalog(tmp_path, "docs")
    assert asyncio.run(catalog.gc(keep=2)) == ()
    process.kill()
    process.communicate()
    assert asyncio.run(catalog.gc(keep=2)) == (build,)
    assert asyncio.run(catalog.list()) == ()


async def test_gc_leaves_an_old_build_that_is_open(tmp_path: Path) -> None:
    catalog = BuildCatalog(tmp_path, "docs")
    old = await _finished(catalog, "a")
    opened = await catalog.open(old.build)
    await _finished(catalog, "b")
    assert old.build not in await catalog.gc(keep=1)
    await opened.store.close()
    assert old.build in await catalog.gc(keep=1)


async def test_a_server_leftover_goes_only_when_no_run_can_be_alive() -> None:
    client = AsyncQdrantClient(":memory:")
    writer = await QdrantBuildCatalog(client, "docs", indexed=False).create(_STAMP, "default")
    assert await QdrantBuildCatalog(client, "docs", indexed=False).gc(keep=2) == ()
    later = QdrantBuildCatalog(
        client, "docs", indexed=False, now=lambda: datetime.now(UTC) + timedelta(days=3)
    )
    assert await later.gc(keep=2) == (writer.build,)
    await client.close()


async def test_one_process_owns_an_embedded_build(tmp_path: Path) -> None:
    catalog = BuildCatalog(tmp_path, "docs")
    manifest = await _finished(catalog, "a")
    opened = await catalog.open(manifest.build)
    with pytest.raises(IndexUnavailableError, match="another process"):
        await catalog.open(manifest.build)
    await opened.store.close()
    await (await catalog.open(manifest.build)).store.close()


@pytest.mark.parametrize("damage", ["manifest.json", "terms.npz"])
async def test_a_damaged_build_says_so(tmp_path: Path, damage: str) -> None:
    catalog = BuildCatalog(tmp_path, "docs")
    manifest = await _finished(catalog, "a")
    path = tmp_path / "collections" / "docs" / "builds" / manifest.build / damage
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(IndexUnavailableError, match="damaged"):
        await catalog.open(manifest.build)


@pytest.mark.parametrize("name", ["", "../escape", "a/b", ".hidden"])
def test_a_collection_is_named_by_a_plain_file_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadRequestError):
        BuildCatalog(tmp_path, name)
