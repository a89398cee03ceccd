from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from evals.packing import evaluate_packing
from evals.scratch import Scratch, open_scratch
from evals.sets import Question, load_set
from evals.workbench import Workbench
from retrieval.profiles import SearchProfile
from tests.evals.test_attacks import bench

__all__ = ["bench"]

ANSWER = "The export job writes one file for each table of the database."
ASIDE = "Its name was chosen in a hurry and nobody has found the time to think of a better one."
SECTIONS = [
    {"id": "a", "url": "https://docs.example.com/a", "title": "Jobs", "heading": "Export"}
    | {"text": f"{ASIDE} {ANSWER} {ASIDE.replace('name', 'logo')}"},
    {"id": "b", "url": "https://docs.example.com/b", "title": "Office", "heading": "Lunch"}
    | {"text": "Lunch is served at noon on the second floor, next to the stairs."},
]
QUESTION = Question(
    id="q1",
    question="What does the export job write for each table?",
    relevant_ids=("a",),
    answerable=True,
)


@pytest.fixture
async def scratch(tmp_path: Path, bench: Workbench) -> AsyncIterator[Scratch]:
    folder = tmp_path / "jobs"
    folder.mkdir()
    (folder / "corpus.jsonl").write_text("\n".join(json.dumps(row) for row in SECTIONS))
    (folder / "queries.jsonl").write_text(QUESTION.model_dump_json())
    profiles = {"default": SearchProfile()}
    async with open_scratch(load_set(folder), bench, profiles=profiles) as opened:
        yield opened


async def test_tokens_are_saved_and_the_answer_stays(scratch: Scratch) -> None:
    summary = await evaluate_packing(scratch, "jobs", (QUESTION,), 25, "all")
    assert (summary.n, summary.budget_tokens) == (1, 25)
    for name in ("extractive", "reader"):
        figures = summary.by_agent[name]
        assert figures.same_citations == 1.0, name
        assert figures.saved > 0.3, name
        assert figures.packed.evidence_tokens <= 25, name
        assert figures.packed.hit_in_evidence == figures.whole.hit_in_evidence == 1.0
        assert figures.packed.support == figures.whole.support == 1.0
        assert figures.packed.verified == 1.0


async def test_a_budget_that_loses_the_quote_keeps_the_evidence_whole(scratch: Scratch) -> None:
    figures = (await evaluate_packing(scratch, "jobs", (QUESTION,), 3, "all")).by_agent
    assert figures["extractive"].kept_whole == 1.0
    assert figures["extractive"].saved == 0.0
    assert figures["extractive"].same_citations == 1.0


async def test_evidence_within_the_budget_is_left_alone(scratch: Scratch) -> None:
    figures = (await evaluate_packing(scratch, "jobs", (QUESTION,), 10_000, "all")).by_agent
    assert (figures["reader"].saved, figures["reader"].kept_whole) == (0.0, 0.0)
