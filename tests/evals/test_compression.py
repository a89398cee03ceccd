from __future__ import annotations

import json
from pathlib import Path

import pytest

from evals.compression import evaluate
from evals.compression_cases import cases_of
from evals.errors import EvalSetError
from evals.sets import half_of
from tests.context.memories import HashModel

FACT = "The limit of the free plan is 60 requests in a minute."


def write_set(folder: Path, answer: str) -> Path:
    sections = [{"id": "gold", "text": f"Plans are listed here. {FACT} Ask sales for more."}]
    sections += [
        {"id": f"other-{n}", "text": f"Page {n} is about gardens and rivers. It has {n} trees."}
        for n in range(12)
    ]
    question = {
        "id": "q1",
        "question": "What is the limit of the free plan in a minute?",
        "answer": answer,
        "relevant_ids": ["gold"],
    }
    folder.mkdir()
    lines = "".join(json.dumps(section) + "\n" for section in sections)
    (folder / "corpus.jsonl").write_text(lines, encoding="utf-8")
    (folder / "queries.jsonl").write_text(json.dumps(question) + "\n", encoding="utf-8")
    return folder


def test_a_case_holds_eight_passages_and_the_sentence_that_answers(tmp_path: Path) -> None:
    (case,) = cases_of(write_set(tmp_path / "made", "60 requests in a minute on the free plan"))

    assert case.gold == FACT
    assert len(case.passages) == 8
    assert sum(FACT in passage for passage in case.passages) == 1


def test_questions_without_an_answering_sentence_are_no_cases(tmp_path: Path) -> None:
    with pytest.raises(EvalSetError, match="no question"):
        cases_of(write_set(tmp_path / "made", "forty two"))


async def test_figures_are_shares_of_the_cases(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "made", "60 requests in a minute on the free plan")

    summary = await evaluate(folder, HashModel(), half_of("q1"))

    assert summary.n == 1
    assert summary.kept_at_50 in {0.0, 1.0}
    assert summary.recounted == 1.0
    assert summary.force_kept == 1.0
    assert 0.0 < summary.rate <= 0.5
