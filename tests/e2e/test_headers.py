"""A title must not lift a passage about something else over the threshold, in any mode."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backend.verdict.guard import CalibratedRule, FixedRule, judge
from evals.scratch import open_scratch
from evals.sets import load_set
from evals.shipped import SHIPPED
from evals.verdicts import read_artefact
from evals.workbench import open_workbench
from ingestion.settings import IngestionSettings
from knowledge.contracts import Signals
from mcp_server.replies import search_result
from retrieval.profiles import SearchProfile

THRESHOLD = 0.45
RECIPE = (
    "Boil the pasta in salted water for nine minutes, drain it, and stir in the tomatoes and the "
    "basil. Serve with grated cheese and a little oil. Leftovers keep for two days in a cold "
    "place. A glass of red wine goes well with it, and so does a green salad with lemon."
)
LIFTED = (
    ("Rotating the signing key", "How do I rotate the signing key?"),
    ("API rate limits", "What are the API rate limits?"),
    ("Request timeout", "How do I set the request timeout?"),
    ("Python installation guide", "How do I install Python on Windows?"),
    ("The assert statement", "What does the assert statement do?"),
)
RULES = (
    FixedRule(threshold_cosine=THRESHOLD, is_default=True),
    CalibratedRule(read_artefact(SHIPPED)),
)


async def signals_of(folder: Path, title: str, body: str, question: str) -> Signals:
    """Index one page beside an unrelated one and return what a search for the question gives."""
    page = {"id": "a", "url": "https://docs.example/a", "title": title, "heading": title}
    other = {"id": "b", "url": "https://docs.example/b", "title": "Harbour", "heading": "Harbour"}
    rows = [
        page | {"text": body},
        other | {"text": "The ferry leaves at noon and comes back when the tide is in."},
    ]
    (folder / "corpus.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    (folder / "queries.jsonl").write_text(json.dumps({"id": "q", "question": question}))
    async with open_workbench(IngestionSettings(data_dir=folder / "data")) as bench:
        profiles = {"default": SearchProfile()}
        async with open_scratch(load_set(folder), bench, profiles=profiles) as scratch:
            return search_result(await scratch.search(question, top_k=2)).signals


@pytest.mark.parametrize("characters", [95, len(RECIPE)])
@pytest.mark.parametrize(("title", "question"), LIFTED)
async def test_a_passage_about_something_else_is_refused_under_any_title(
    tmp_path: Path, title: str, question: str, characters: int
) -> None:
    signals = await signals_of(tmp_path, title, RECIPE[:characters], question)
    assert not any(judge(signals, rule).passed for rule in RULES)


async def test_the_reason_names_the_title_that_lifted_a_passage(tmp_path: Path) -> None:
    title, question = LIFTED[0]
    signals = await signals_of(tmp_path, title, RECIPE[:60], question)
    assert signals.best_cosine is not None
    assert signals.best_cosine >= THRESHOLD
    for rule in RULES:
        assert "owes it to the title it stands under" in judge(signals, rule).reason


async def test_a_passage_with_words_of_its_own_is_answered_from_under_the_same_title(
    tmp_path: Path,
) -> None:
    title, question = LIFTED[0]
    body = "Put a new signing key first, restart, and take the old key out when nobody uses it."
    signals = await signals_of(tmp_path, title, body, question)
    for rule in RULES:
        verdict = judge(signals, rule)
        assert verdict.passed
        assert "owes" not in verdict.reason
