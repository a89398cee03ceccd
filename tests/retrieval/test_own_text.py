from __future__ import annotations

import pytest

from retrieval.own_text import is_lifted
from retrieval.sparse import Bm25Encoder
from tests.retrieval.corpus import chunk, place

ANALYSER = Bm25Encoder()
WEIGHTS = dict.fromkeys(ANALYSER.embed_query("default port").indices, 1.0)


@pytest.mark.parametrize(
    ("heading", "text", "is_expected"),
    [
        ("Guide", "Boil the pasta for nine minutes.", True),
        ("Guide", "The port is 8080.", False),
        ("Default port", "8080", False),
        ("Something else", "8080", True),
    ],
)
def test_a_passage_needs_a_word_of_the_question_in_its_text_or_its_own_heading(
    heading: str, text: str, *, is_expected: bool
) -> None:
    made = chunk("a", text, place("guide", heading=heading))
    assert is_lifted(made, WEIGHTS, ANALYSER) is is_expected


def test_a_title_is_no_word_of_the_passage_even_as_its_only_heading() -> None:
    made = chunk("a", "8080", place("default port", heading="Default Port"))
    assert is_lifted(made, WEIGHTS, ANALYSER)


def test_a_question_without_words_lifts_nothing() -> None:
    assert not is_lifted(chunk("a", "8080"), {}, ANALYSER)
