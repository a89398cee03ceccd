from __future__ import annotations

from dataclasses import replace

import pytest

from retrieval.chunk import Chunk
from retrieval.own_text import is_lifted
from retrieval.sparse import Bm25Encoder
from tests.retrieval.corpus import chunk, place

ANALYSER = Bm25Encoder()
WEIGHTS = dict.fromkeys(ANALYSER.embed_query("default port").indices, 1.0)


def under(header: str, made: Chunk) -> Chunk:
    return replace(made, text_for_embedding=f"{header}\n{made.text}")


@pytest.mark.parametrize(
    ("heading", "text", "is_expected"),
    [
        ("Ports", "Boil the pasta for nine minutes.", True),
        ("Ports", "The port is 8080.", False),
        ("Default port", "8080", False),
        ("Something else", "8080", True),
    ],
)
def test_a_passage_needs_a_word_of_the_question_in_its_text_or_its_own_heading(
    heading: str, text: str, *, is_expected: bool
) -> None:
    made = under("Ports", chunk("a", text, place("ports", heading=heading)))
    assert is_lifted(made, WEIGHTS, ANALYSER) is is_expected


def test_a_title_is_no_word_of_the_passage_even_as_its_only_heading() -> None:
    made = under("Default Port", chunk("a", "8080", place("default port", heading="Default Port")))
    assert is_lifted(made, WEIGHTS, ANALYSER)


def test_a_question_without_words_lifts_nothing() -> None:
    assert not is_lifted(chunk("a", "8080"), {}, ANALYSER)


def test_a_header_without_the_words_of_the_question_lifts_nothing() -> None:
    assert not is_lifted(chunk("a", "Der Anschluss ist 8080."), WEIGHTS, ANALYSER)
