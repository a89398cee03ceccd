"""Evaluations the whole way: a set on disk, real models, an engine, a report."""

from __future__ import annotations

from pathlib import Path

import pytest

from evals.ablation import climb, ladder
from evals.entry import default_profiles, eval_retrieval, named_profiles
from evals.errors import EvalError, EvalSetError
from evals.retrieval import ComparedSummary
from evals.scratch import open_scratch
from evals.sets import load_set
from evals.verdicts import eval_abstention, read_artefact
from evals.workbench import open_workbench
from ingestion.settings import IngestionSettings
from retrieval.profiles import packaged_search
from tests.evals.made_set import write_set


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> IngestionSettings:
    return IngestionSettings(data_dir=tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_set(tmp_path_factory.mktemp("sets") / "made")


async def test_retrieval_finds_each_section_and_reports_it(
    folder: Path, settings: IngestionSettings, tmp_path: Path
) -> None:
    summary, written = await eval_retrieval(folder, settings, reports=tmp_path)
    assert (summary.set, summary.split, summary.n, summary.k) == ("made", "all", 6, 3)
    assert summary.hit == 1.0
    assert summary.mrr == 1.0
    assert summary.pass_at == {"5": 1.0, "10": 1.0, "20": 1.0}
    assert written is not None
    assert "| default | dev |" in written.markdown.read_text()
    html = written.html.read_text()
    assert "<svg" in html
    assert "src=" not in html


PROFILES = """
default:
  summary: As it is.
ranks:
  summary: Ranks fused.
  search: {fusion: rrf}
reranked:
  summary: With a reranker that is not there.
  search: {reranker: {model: /no/such/reranker}}
pieces:
  summary: Cut otherwise.
  ingestion: {chunker: {name: recursive}}
"""


async def test_profiles_are_compared_side_by_side_and_what_fell_back_is_said(
    folder: Path, settings: IngestionSettings, tmp_path: Path
) -> None:
    file = tmp_path / "profiles.yaml"
    file.write_text(PROFILES)
    own = settings.model_copy(update={"profiles_file": file})
    names = ["default", "ranks", "reranked"]
    summary, written = await eval_retrieval(
        folder, own, profiles=named_profiles(own, names), reports=tmp_path
    )
    assert isinstance(summary, ComparedSummary)
    assert list(summary.by_profile) == names
    assert summary.f1 == summary.by_profile["default"].f1
    assert summary.degraded == {"reranked": {"rerank_failed": 6}}
    assert written is not None
    report = written.markdown.read_text()
    assert "| ranks | test |" in report
    assert "| reranked | rerank failed | 6 of 6 |" in report


async def test_profiles_that_build_another_index_are_not_compared_as_if_they_did_not(
    settings: IngestionSettings, tmp_path: Path
) -> None:
    file = tmp_path / "profiles.yaml"
    file.write_text(PROFILES)
    with pytest.raises(EvalError, match=r"pieces builds another index .* \(its chunker differ"):
        named_profiles(settings.model_copy(update={"profiles_file": file}), ["default", "pieces"])


async def test_a_set_is_indexed_once_and_found_again(
    folder: Path, settings: IngestionSettings
) -> None:
    loaded = load_set(folder)
    builds: list[str] = []
    for _ in range(2):
        async with (
            open_workbench(settings) as bench,
            open_scratch(loaded, bench, profiles=default_profiles()) as scratch,
        ):
            builds.append(scratch.manifest.build)
            assert set(scratch.sections_of.values()) == {(one.id,) for one in loaded.sections}
    assert builds[0] == builds[1]
    assert not (settings.data_dir / "collections").exists()


async def test_a_search_reports_focus_among_its_signals(
    folder: Path, settings: IngestionSettings
) -> None:
    async with (
        open_workbench(settings) as bench,
        open_scratch(load_set(folder), bench, profiles=default_profiles()) as scratch,
    ):
        asked = await scratch.search("How often is a failed webhook tried again?", top_k=3)
        priced = await scratch.search("What is the price of a failed webhook?", top_k=3)
    assert asked.signals.more["value_focus"] == asked.signals.more["focus"] > 0.5
    assert priced.signals.more["value_focus"] == 0.0 < priced.signals.more["focus"]


async def test_the_ladder_climbs_from_fixed_chunks_to_the_default(
    folder: Path, settings: IngestionSettings
) -> None:
    async with open_workbench(settings) as bench:
        steps = await climb(load_set(folder), bench, packaged_search())
        assert list(steps) == [step.adds for step in ladder(bench, packaged_search())]
    assert next(iter(steps)).startswith("fixed-size")
    assert all(result.summary("all").n == 6 for result in steps.values())


async def test_abstention_separates_and_writes_near_misses(
    folder: Path, settings: IngestionSettings, tmp_path: Path
) -> None:
    summary, written = await eval_abstention(
        folder, settings, threshold_cosine=0.45, reports=tmp_path
    )
    assert summary.auroc > 0.9
    assert summary.bound.n == 4
    assert set(summary.by_band) == {"long", "far", "near", "adversarial_near"}
    assert written is not None
    assert "## Near misses" in written.markdown.read_text()


async def test_questions_of_another_corpus_serve_as_negatives(
    folder: Path, settings: IngestionSettings, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "queries.jsonl").write_text('{"id": "q0", "question": "Who painted Guernica?"}\n')
    summary, _ = await eval_abstention(
        folder, settings, threshold_cosine=0.45, negatives_from=[other]
    )
    assert summary.by_band["another_corpus"] == 1.0


async def test_a_set_without_corpus_is_refused(tmp_path: Path, settings: IngestionSettings) -> None:
    (tmp_path / "queries.jsonl").write_text('{"id": "q0", "question": "What?"}\n')
    with pytest.raises(EvalSetError, match=r"no corpus\.jsonl"):
        await eval_retrieval(tmp_path, settings)


def test_what_is_no_artefact_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "artefact.json"
    path.write_text('{"threshold": 2}')
    with pytest.raises(EvalSetError, match="no calibration artefact"):
        read_artefact(path)
