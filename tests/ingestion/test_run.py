from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from ingestion.composition import IngestionTools, open_chunker, open_fetcher
from ingestion.errors import (
    BusyError,
    CarryOverError,
    EmptyRunError,
    SourceError,
    VanishedError,
    VerificationError,
)
from ingestion.exclusive import exclusive
from ingestion.records import BuildRecords
from ingestion.report import IngestReport
from ingestion.run import run
from ingestion.settings import IngestionSettings
from ingestion.sources import Source, source_from
from ingestion.verify import Expectation
from retrieval.chunk import Chunk
from retrieval.opening import open_catalog
from retrieval.opening_models import open_sparse_encoder
from retrieval.store import Filter
from retrieval.vectors import VectorCache
from tests.ingestion.fakes import HashEmbedder, InlineParser, Recorder


@dataclass
class Bench:
    """A data folder, a folder of documents and the tools between them."""

    root: Path
    embedder: HashEmbedder
    progress: Recorder
    tools: IngestionTools
    settings: IngestionSettings

    def write(self, name: str, text: str, folder: str = "docs") -> Source:
        path = self.root / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return source_from(str(self.root / folder))

    async def ingest(
        self, *sources: Source, expect: Expectation | None = None, removed: Sequence[str] = ()
    ) -> IngestReport:
        self.embedder.embedded.clear()
        return await run(
            sources, self.tools, self.settings, self.progress, removed=removed, expect=expect
        )

    async def chunks(self) -> dict[str, Chunk]:
        manifest = await self.tools.catalog.current()
        if manifest is None:
            return {}
        opened = await self.tools.catalog.open(manifest.build)
        try:
            everything = Filter(all_labels=True)
            return {p.chunk.text: p.chunk async for p in opened.store.scan(where=everything)}
        finally:
            await opened.store.close()


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    settings = IngestionSettings(data_dir=tmp_path / "data", ingest_workers=2)
    embedder = HashEmbedder()
    tools = IngestionTools(
        parser=InlineParser(),
        fetcher=open_fetcher(settings),
        embedder=embedder,
        chunker=open_chunker(settings, embedder),
        sparse=open_sparse_encoder(),
        late=None,
        catalog=open_catalog(settings),
        vectors=VectorCache(settings.vectors_path),
        records=BuildRecords(settings.records_dir),
    )
    yield Bench(tmp_path, embedder, Recorder(), tools, settings)
    await tools.close()


async def test_a_run_publishes_a_build_and_reports_what_is_in_it(bench: Bench) -> None:
    bench.write("a.md", "# Alpha\n\nThe first fact.\n")
    docs = bench.write("b.md", "# Beta\n\nThe first fact.\n\n# More\n\nThe second fact.\n")
    report = await bench.ingest(docs)
    manifest = await bench.tools.catalog.current()
    assert manifest is not None
    assert manifest.build == report.build
    assert report.points_written == manifest.chunks == len(await bench.chunks())
    assert report.chunks == report.points_written + report.duplicates
    assert {d.document_id: d.state for d in report.documents} == {"a.md": "new", "b.md": "new"}
    assert [e.stage for e in bench.progress.events][-1] == "published"


async def test_an_unchanged_source_is_not_embedded_again(bench: Bench) -> None:
    docs = bench.write("a.md", "# Alpha\n\nThe first fact.\n")
    first = await bench.ingest(docs)
    second = await bench.ingest(docs)
    assert bench.embedder.embedded == []
    assert (second.embedded, second.points_written) == (0, 0)
    assert second.documents[0].state == "unchanged"
    assert second.build == first.build


async def test_new_labels_make_a_new_build_without_the_model(bench: Bench) -> None:
    docs = bench.write("a.md", "# Alpha\n\nThe first fact.\n")
    await bench.ingest(docs)
    report = await bench.ingest(replace(docs, labels=("staff",)))
    (chunk,) = (await bench.chunks()).values()
    assert chunk.occurrences[0].labels == ("staff",)
    assert report.embedded == 0


async def test_an_unchanged_build_is_still_held_to_its_expected_size(bench: Bench) -> None:
    docs = bench.write("a.md", "# Alpha\n\nThe first fact.\n")
    await bench.ingest(docs)
    with pytest.raises(VerificationError, match="1 chunks, not 2 to 3"):
        await bench.ingest(docs, expect=Expectation(2, 3))


async def test_changing_one_page_embeds_that_page_only(bench: Bench) -> None:
    bench.write("a.md", "# Alpha\n\nThe first fact.\n")
    docs = bench.write("b.md", "# Beta\n\nThe second fact.\n")
    await bench.ingest(docs)
    bench.write("b.md", "# Beta\n\nThe second fact, corrected.\n")
    report = await bench.ingest(docs)
    assert len(bench.embedder.embedded) == 1
    assert "corrected" in bench.embedder.embedded[0]
    assert {d.document_id: d.state for d in report.documents} == {
        "a.md": "unchanged",
        "b.md": "changed",
    }
    assert "The second fact." not in await bench.chunks()


async def test_a_shorter_page_leaves_no_tail_and_a_vanished_page_is_gone(bench: Bench) -> None:
    long = "\n\n".join(f"# Part {n}\n\n" + f"Sentence about topic {n}. " * 20 for n in range(5))
    bench.write("gone.md", "# Gone\n\nThis page will vanish.\n")
    docs = bench.write("long.md", long)
    await bench.ingest(docs)
    (bench.root / "docs" / "gone.md").unlink()
    bench.write("long.md", long.partition("# Part 2")[0])
    report = await bench.ingest(docs)
    texts = " ".join(await bench.chunks())
    assert report.vanished == ("docs/gone.md",)
    assert "vanish" not in texts
    assert "topic 1" in texts
    assert "topic 4" not in texts


async def test_other_sources_are_carried_over_without_the_model(bench: Bench) -> None:
    first = bench.write("a.md", "# Alpha\n\nThe first fact.\n")
    second = bench.write("b.md", "# Beta\n\nThe second fact.\n", folder="other")
    await bench.ingest(first)
    report = await bench.ingest(second)
    assert len(bench.embedder.embedded) == 1
    assert {d.source: d.state for d in report.documents} == {"docs": "carried_over", "other": "new"}
    assert len(await bench.chunks()) == 2


async def test_dropping_a_source_leaves_the_other_sources_text(bench: Bench) -> None:
    first = bench.write("a.md", "# Alpha\n\nA shared fact.\n")
    second = bench.write("b.md", "# Beta\n\nA shared fact.\n", folder="other")
    await bench.ingest(first, second)
    bench.write("a.md", "# Alpha\n\nSomething new.\n")
    await bench.ingest(first)
    shared = (await bench.chunks())["A shared fact."]
    assert [place.source for place in shared.occurrences] == ["other"]


async def test_the_same_input_gives_the_same_ids(bench: Bench) -> None:
    docs = bench.write("a.md", "# Alpha\n\nThe first fact.\n\n# Beta\n\n" + "Long text. " * 200)
    await bench.ingest(docs)
    before = {chunk.chunk_id for chunk in (await bench.chunks()).values()}
    await bench.ingest(bench.write("b.md", "# Other", folder="other"), removed=["docs"])
    await bench.ingest(docs, removed=["other"])
    assert {chunk.chunk_id for chunk in (await bench.chunks()).values()} == before


async def test_an_unreadable_file_is_listed_and_stops_nothing(bench: Bench) -> None:
    docs = bench.write("a.md", "# Alpha\n\nThe first fact.\n")
    (bench.root / "docs" / "broken.md").write_bytes(b"\x00\x01\x02\xff\xfe")
    report = await bench.ingest(docs)
    assert [(d.document_id, d.state) for d in report.unreadable] == [("broken.md", "unreadable")]
    assert report.points_written == 1


async def test_a_run_without_a_chunk_fails_with_the_reasons(bench: Bench) -> None:
    docs = bench.write("empty.md", "   \n")
    with pytest.raises(EmptyRunError, match=r"empty\.md: empty file"):
        await bench.ingest(docs)
    assert await bench.tools.catalog.current() is None


@pytest.mark.parametrize("name", ["empty.md", "picture.png"])
async def test_a_source_nothing_comes_out_of_fails_beside_others(bench: Bench, name: str) -> None:
    await bench.ingest(bench.write("a.md", "# Alpha\n\nThe first fact.\n"))
    before = await bench.tools.catalog.current()
    with pytest.raises(EmptyRunError, match="no chunk came out of source 'other'"):
        await bench.ingest(bench.write(name, "", folder="other"))
    assert await bench.tools.catalog.current() == before


async def test_a_source_whose_last_document_is_gone_leaves_the_index(bench: Bench) -> None:
    await bench.ingest(bench.write("a.md", "# Alpha\n\nThe first fact.\n"))
    other = bench.write("b.md", "# Beta\n\nThe second fact.\n", folder="other")
    await bench.ingest(other)
    (bench.root / "other" / "b.md").write_bytes(b"\x00\x01\x02")
    with pytest.raises(EmptyRunError, match=r"source 'other' \(b\.md: "):
        await bench.ingest(other)
    (bench.root / "other" / "b.md").unlink()
    report = await bench.ingest(other)
    assert report.vanished == ("other/b.md",)
    assert set(await bench.chunks()) == {"The first fact."}


async def test_two_places_of_one_name_are_one_source(bench: Bench) -> None:
    first = replace(bench.write("a.md", "# Alpha\n\nThe first fact.\n"), name="book")
    bench.write("a.md", "# Other\n\nA fact under a name taken.\n", folder="more")
    second = bench.write("b.md", "# Beta\n\nThe second fact.\n", folder="more")
    second = replace(second, name="book")
    for _ in range(2):
        report = await bench.ingest(first, second)
        assert report.vanished == ()
        assert set(await bench.chunks()) == {"The first fact.", "The second fact."}
        assert [(d.document_id, d.reason[:13]) for d in report.unreadable] == [
            ("a.md", "another place")
        ]
    with pytest.raises(SourceError, match="different labels"):
        await bench.ingest(first, replace(second, labels=("staff",)))


async def test_what_cannot_be_read_in_a_folder_is_listed(bench: Bench) -> None:
    docs = bench.write("a.md", "# Alpha\n\nThe first fact.\n")
    folder = bench.root / "docs"
    os.mkfifo(folder / "pipe.md")
    (folder / os.fsdecode(b"caf\xe9.md")).write_text("# Gamma\n\nThe third fact.\n")
    report = await bench.ingest(docs)
    assert [(d.document_id, d.reason) for d in report.unreadable] == [
        ("caf?.md", "a name that is no text"),
        ("pipe.md", "a pipe or device, not a file"),
    ]


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "//evil.example/x",
                "http://[", " JavaScript:alert(1)"],
)  # fmt: skip
async def test_a_page_cannot_name_an_address_that_is_no_page(bench: Bench, address: str) -> None:
    text = f'---\nurl: "{address}"\n---\n# Alpha\n\nThe first fact.\n'
    await bench.ingest(bench.write("a.md", text))
    assert [chunk.occurrences[0].source_url for chunk in (await bench.chunks()).values()] == [
        "file:docs/a.md#alpha"
    ]


async def test_a_page_may_name_the_page_it_is_published_as(bench: Bench) -> None:
    text = "---\nurl: https://docs.example/alpha\n---\n# Alpha\n\nThe first fact.\n"
    await bench.ingest(bench.write("a.md", text))
    assert [chunk.occurrences[0].source_url for chunk in (await bench.chunks()).values()] == [
        "https://docs.example/alpha#alpha"
    ]


async def test_a_run_that_breaks_leaves_the_build_in_force(bench: Bench) -> None:
    docs = bench.write("a.md", "# Alpha\n\nThe first fact.\n")
    report = await bench.ingest(docs)
    bench.write("a.md", "# Alpha\n\nThe changed fact.\n")
    bench.embedder.fail_after = 0
    with pytest.raises(RuntimeError, match="the model broke"):
        await bench.ingest(docs)
    manifest = await bench.tools.catalog.current()
    assert manifest is not None
    assert manifest.build == report.build
    assert "The first fact." in await bench.chunks()


async def test_a_run_that_broke_starts_again_where_it_stopped(bench: Bench) -> None:
    text = "\n\n".join(f"# Part {n}\n\n" + f"About topic {n}. " * 40 for n in range(10))
    docs = bench.write("a.md", text)
    bench.embedder.fail_after = 8
    with pytest.raises(RuntimeError, match="the model broke"):
        await bench.ingest(docs)
    done = set(bench.embedder.embedded)
    bench.embedder.fail_after = None
    report = await bench.ingest(docs)
    assert done
    assert done.isdisjoint(bench.embedder.embedded)
    assert report.points_written == 20


async def test_an_unexpected_number_of_chunks_is_not_published(bench: Bench) -> None:
    docs = bench.write("a.md", "# Alpha\n\nThe first fact.\n")
    report = await bench.ingest(docs)
    bench.write("b.md", "# Beta\n\nThe second fact.\n")
    with pytest.raises(VerificationError, match="2 chunks, not 5 to 9"):
        await bench.ingest(docs, expect=Expectation(5, 9))
    manifest = await bench.tools.catalog.current()
    assert manifest is not None
    assert manifest.build == report.build
    assert [m.build for m in await bench.tools.catalog.list()] == [report.build]


async def test_a_source_that_cannot_be_kept_stops_the_run(bench: Bench) -> None:
    first = bench.write("a.md", "# Alpha\n\nThe first fact.\n")
    second = bench.write("b.md", "# Beta\n\nThe second fact.\n", folder="other")
    report = await bench.ingest(first)
    bench.tools.records.drop(report.build)
    with pytest.raises(CarryOverError, match="docs"):
        await bench.ingest(second)


async def test_a_missing_source_is_named(bench: Bench) -> None:
    with pytest.raises(SourceError, match="nothing there"):
        await bench.ingest(Source("gone", "path", str(bench.root / "nowhere")))


async def test_old_builds_and_their_records_are_removed(bench: Bench) -> None:
    docs = bench.write("a.md", "# Alpha\n\nThe first fact.\n")
    for number in range(bench.settings.keep_builds + 2):
        bench.write("a.md", f"# Alpha\n\nFact number {number}.\n")
        await bench.ingest(docs)
    builds = {manifest.build for manifest in await bench.tools.catalog.list()}
    assert len(builds) == bench.settings.keep_builds
    assert {folder.name for folder in bench.settings.records_dir.iterdir()} == builds


async def test_a_removed_source_is_gone_and_the_others_stay(bench: Bench) -> None:
    first = bench.write("a.md", "# Alpha\n\nThe first fact.\n")
    second = bench.write("b.md", "# Beta\n\nThe second fact.\n", folder="other")
    await bench.ingest(first, second)
    await bench.ingest(removed=["docs"])
    assert set(await bench.chunks()) == {"The second fact."}


async def test_half_a_source_gone_at_once_is_not_believed(bench: Bench) -> None:
    docs = bench.write("p0.md", "# Page 0\n\nFact number 0.\n")
    for number in range(1, 12):
        bench.write(f"p{number}.md", f"# Page {number}\n\nFact number {number}.\n")
    report = await bench.ingest(docs)
    for number in range(9):
        (bench.root / "docs" / f"p{number}.md").unlink()
    with pytest.raises(VanishedError, match="9 of 12"):
        await bench.ingest(docs)
    manifest = await bench.tools.catalog.current()
    assert manifest is not None
    assert manifest.build == report.build


async def test_the_same_page_under_many_names_is_one_document(bench: Bench) -> None:
    body = "# Not found\n\n**Source:** https://x.example/{}\n\nTry https://x.example/{} instead.\n"
    bench.write("a.md", body.format("one", "two"))
    docs = bench.write("b.md", body.format("three", "four"))
    report = await bench.ingest(docs)
    assert report.points_written == 1
    assert [(d.document_id, d.state, d.reason) for d in report.documents][-1] == (
        "b.md",
        "same_page",
        "the same page as a.md",
    )


async def test_what_stands_on_most_pages_is_kept_on_the_first_only(bench: Bench) -> None:
    text = "# Page {0}\n\nSubscribe now!\n\nFact number {0}.\n"
    docs = bench.write("p0.md", text.format(0))
    for number in range(1, 6):
        bench.write(f"p{number}.md", text.format(number))
    report = await bench.ingest(docs)
    texts = " ".join(await bench.chunks())
    assert texts.count("Subscribe now!") == 1
    assert [d.dropped.get("boilerplate", 0) for d in report.documents] == [0, 1, 1, 1, 1, 1]


def test_a_second_run_at_the_same_time_is_refused(tmp_path: Path) -> None:
    lock = tmp_path / "records" / "docs.lock"
    with exclusive(lock), pytest.raises(BusyError), exclusive(lock):
        pass
    with exclusive(lock):
        pass


async def test_every_topic_of_the_reference_keeps_its_own_place(bench: Bench) -> None:
    report = await bench.ingest(Source("python-reference", "reference"))
    assert {document.state for document in report.documents} == {"new"}
