"""A model's sentence in the headers: in what is embedded alone, within bounds, paid for once."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from backend.verdict.calibration import mismatches
from backend.verdict.calibration_artefact import CalibrationStamp
from cli.main import app
from evals.calibrate import stamp_of
from ingestion.composition import IngestionTools, open_summaries
from ingestion.header import HEADER_FORMAT
from ingestion.report import IngestReport
from ingestion.run import run
from ingestion.settings import IngestionSettings
from ingestion.sources import source_from
from ingestion.summaries import SummaryReport
from mcp_server.replies import index_info
from retrieval.chunk import Chunk
from retrieval.manifest import Manifest
from retrieval.store import Filter
from tests import scripted_model as model
from tests.ingestion.fakes import HashEmbedder
from tests.ingestion.hash_tools import hash_tools

SENTENCE = "A guide to the zeppelin hangar and its doors."
FIRST, SECOND = "# Alpha\n\nThe first fact.\n", "# Beta\n\nThe second fact.\n"


@dataclass
class Bench:
    """Two documents, and runs over them with a scripted model or none."""

    root: Path
    embedder: HashEmbedder

    def settings(self, url: str = "", **changes: object) -> IngestionSettings:
        values = {"data_dir": self.root / "data", "summary_url": url, "summary_model": "scripted"}
        return IngestionSettings.model_validate({**values, "summary_seconds": 2.0, **changes})

    @asynccontextmanager
    async def tools(self, settings: IngestionSettings) -> AsyncGenerator[IngestionTools]:
        opened = hash_tools(self.embedder)(settings)
        tools = replace(opened, summaries=open_summaries(settings))
        try:
            yield tools
        finally:
            await tools.close()

    async def ingest(self, url: str = "", **changes: object) -> IngestReport:
        settings = self.settings(url, **changes)
        async with self.tools(settings) as tools:
            source = source_from(str(self.root / "docs"), name="docs")
            return await run([source], tools, settings, lambda _: None)

    async def build(self) -> tuple[Manifest, list[Chunk]]:
        async with self.tools(self.settings()) as tools:
            manifest = await tools.catalog.current()
            assert manifest is not None
            opened = await tools.catalog.open(manifest.build)
            found = [p.chunk async for p in opened.store.scan(where=Filter(all_labels=True))]
            await opened.store.close()
        return manifest, found


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(FIRST)
    (tmp_path / "docs" / "b.md").write_text(SECOND)
    return Bench(tmp_path, HashEmbedder())


@pytest.fixture
def writer() -> Iterator[model.ScriptedModel]:
    with model.serve(model.always(model.say(SENTENCE))) as serving:
        yield serving


def costs(report: IngestReport) -> SummaryReport:
    assert report.summaries is not None
    return report.summaries


async def test_the_sentence_is_embedded_and_never_shown(
    bench: Bench, writer: model.ScriptedModel
) -> None:
    report = costs(await bench.ingest(writer.url))
    _, chunks = await bench.build()
    assert len(chunks) == 2
    assert all(SENTENCE in chunk.text_for_embedding for chunk in chunks)
    assert all("zeppelin" not in chunk.text for chunk in chunks)
    limit = bench.embedder.spec.input_limit_tokens
    assert all(bench.embedder.tokenizer.count(c.text_for_embedding) <= limit for c in chunks)
    assert (report.made, report.cached, report.failed, report.left_out) == (2, 0, 0, 0)
    assert report.prompt_tokens > 0
    assert report.completion_tokens > 0
    assert "The first fact." in json.dumps(writer.requests[0].body)


async def test_a_sentence_is_paid_for_once_and_again_when_its_document_changes(
    bench: Bench, writer: model.ScriptedModel
) -> None:
    await bench.ingest(writer.url)
    again = await bench.ingest(writer.url)
    assert len(writer.requests) == 2
    assert (costs(again).cached, costs(again).prompt_tokens) == (2, 0)
    assert again.points_written == 0
    assert {document.state for document in again.documents} == {"unchanged"}
    (bench.root / "docs" / "a.md").write_text("# Alpha\n\nAnother fact.\n")
    changed = costs(await bench.ingest(writer.url))
    assert (changed.made, changed.cached) == (1, 1)


async def test_off_nothing_changes_and_on_is_another_header_format(
    bench: Bench, writer: model.ScriptedModel
) -> None:
    plain = await bench.ingest()
    before, chunks = await bench.build()
    assert plain.summaries is None
    assert before.stamp.header_format == HEADER_FORMAT
    assert all("zeppelin" not in chunk.text_for_embedding for chunk in chunks)
    assert not (bench.root / "data" / "summaries.db").exists()
    await bench.ingest(writer.url)
    after, _ = await bench.build()
    assert after.stamp.header_format == f"{HEADER_FORMAT}+summary-1(scripted)"
    calibrated: CalibrationStamp = stamp_of(before)
    assert mismatches(calibrated, index_info(after)) == ("header format",)


@pytest.mark.parametrize("bound", [{"summary_most_documents": 1}, {"summary_most_tokens": 260}])
async def test_a_bound_is_kept_and_what_went_without_is_said(
    bench: Bench, writer: model.ScriptedModel, bound: dict[str, int]
) -> None:
    report = costs(await bench.ingest(writer.url, **bound))
    assert (report.made, report.left_out, len(writer.requests)) == (1, 1, 1)
    _, chunks = await bench.build()
    assert sorted(SENTENCE in chunk.text_for_embedding for chunk in chunks) == [False, True]
    later = costs(await bench.ingest(writer.url))
    assert (later.made, later.cached) == (1, 1)
    _, chunks = await bench.build()
    assert all(SENTENCE in chunk.text_for_embedding for chunk in chunks)


@pytest.mark.parametrize("reply", [model.status(400, "no"), model.html(), model.no_choices()])
async def test_a_model_that_fails_leaves_documents_without_and_says_so(
    bench: Bench, reply: model.Reply
) -> None:
    for number in range(4):
        (bench.root / "docs" / f"c{number}.md").write_text(f"# Page {number}\n\nFact {number}.\n")
    with model.serve(model.always(reply)) as broken:
        report = costs(await bench.ingest(broken.url))
        # Three failures in a row and the endpoint is left alone.
        assert len(broken.requests) == 3
    assert (report.made, report.failed, report.left_out) == (0, 3, 3)
    _, chunks = await bench.build()
    assert len(chunks) == 6


async def test_a_long_sentence_is_cut_to_the_room_of_the_header(bench: Bench) -> None:
    with model.serve(model.always(model.say("word " * 4000))) as wordy:
        await bench.ingest(wordy.url)
    _, chunks = await bench.build()
    limit = bench.embedder.spec.input_limit_tokens
    assert all(bench.embedder.tokenizer.count(c.text_for_embedding) <= limit for c in chunks)
    assert all(c.text_for_embedding.endswith(c.text.split("\n")[-1]) for c in chunks)


def test_the_command_reports_the_tokens(bench: Bench, writer: model.ScriptedModel) -> None:
    environment = {
        "VOUCH_DATA_DIR": str(bench.root / "served"),
        "VOUCH_SUMMARY_URL": writer.url,
        "VOUCH_SUMMARY_MODEL": "scripted",
    }
    runner = CliRunner(env=environment)
    done = runner.invoke(app, ["ingest", str(bench.root / "docs"), "--json"])
    assert done.exit_code == 0, done.output
    spent = json.loads(done.stdout)["summaries"]
    assert (spent["model"], spent["made"]) == ("scripted", 2)
    assert spent["prompt_tokens"] > spent["completion_tokens"] > 0
    shown = runner.invoke(app, ["ingest", str(bench.root / "docs")])
    assert "0 written by scripted for 0 tokens, 2 known" in shown.stdout
