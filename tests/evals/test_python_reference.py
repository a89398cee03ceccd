"""The labelled set of the sample corpus against the text that this Python ships."""

from __future__ import annotations

import sys
from pathlib import Path
from pydoc_data.topics import topics

import pytest

from evals.quotes import holds
from evals.sets import Question, load_set

FOLDER = Path("evals/sets/python_reference")
SET = load_set(FOLDER)
LABELLED = (*SET.queries, *SET.exact)
# Versions whose text was read when the quotes were chosen; a newer one may reword a few.
KNOWN_VERSIONS = {(3, 11), (3, 12), (3, 13)}


@pytest.mark.parametrize("question", LABELLED, ids=lambda question: question.id)
def test_quote_stands_in_its_topic(question: Question) -> None:
    if question.topic not in topics:
        pytest.skip(f"this Python has no topic {question.topic}")
    if sys.version_info[:2] not in KNOWN_VERSIONS:
        pytest.skip("this Python's text was not read when the quotes were chosen")
    assert holds(topics[question.topic], question.quote)


def test_other_quotes_that_answer_stand_somewhere() -> None:
    text = "\n".join(topics.values())
    other = [quote for one in LABELLED for quote in one.also]
    held = sum(holds(text, quote) for quote in other)
    assert held >= 0.7 * len(other) > 0


def test_nearly_every_quote_stands_whatever_the_version() -> None:
    held = sum(holds(topics.get(one.topic, ""), one.quote) for one in LABELLED)
    assert held / len(LABELLED) >= 0.9


def test_ids_and_questions_are_unique() -> None:
    every = (*LABELLED, *SET.unanswerable)
    assert len({one.id for one in every}) == len(every)
    assert len({one.question for one in every}) == len(every)


def test_set_is_as_large_and_as_mixed_as_it_claims() -> None:
    assert len(SET.queries) >= 80
    assert len({one.topic for one in SET.queries}) >= 50
    assert min(sum(one.kind == kind for one in SET.queries) for kind in ("short", "long")) >= 30
    assert len(SET.exact) >= 30


def test_half_of_the_unanswerable_are_near_misses() -> None:
    bands = [one.band for one in SET.unanswerable]
    assert len(bands) >= 70
    assert set(bands) == {"far", "near", "adversarial_near"}
    assert bands.count("far") <= len(bands) / 2


def test_exact_token_stands_in_question_or_quote_and_in_the_text() -> None:
    text = "\n".join(topics.values())
    for one in SET.exact:
        assert one.token in one.question or one.token in one.quote
        assert one.token in text
