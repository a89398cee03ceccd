"""The condenser holds on conversations about the sample corpus that it was not made on."""

from __future__ import annotations

from pathlib import Path

import pytest

from evals.errors import EvalSetError
from evals.follow_ups import load_conversations, measure_follow_ups

ROOT = Path(__file__).resolve().parents[2]
CONVERSATIONS = ROOT / "evals" / "sets" / "python_reference" / "follow_ups.jsonl"
ACCEPTED_SHARE = 0.8


@pytest.mark.parametrize("split", ["dev", "test"])
def test_follow_ups_search_for_the_right_thing(split: str) -> None:
    results = measure_follow_ups(
        load_conversations(CONVERSATIONS), "dev" if split == "dev" else "test"
    )
    assert len(results) >= 20
    wrong = [(one.question, one.search_question) for one in results if not one.is_right]
    assert len(wrong) <= (1 - ACCEPTED_SHARE) * len(results), wrong


def test_no_follow_up_with_a_subject_before_it_is_vague() -> None:
    results = measure_follow_ups(load_conversations(CONVERSATIONS))
    assert [one.question for one in results if one.is_vague] == []


def test_conversations_have_at_least_five_questions() -> None:
    assert min(len(one.turns) for one in load_conversations(CONVERSATIONS)) >= 5


def test_missing_conversations_are_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(EvalSetError, match="missing"):
        load_conversations(tmp_path / "none.jsonl")
