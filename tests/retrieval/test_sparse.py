from __future__ import annotations

import pytest

from retrieval.sparse import Bm25Encoder, expand_identifiers
from retrieval.symbols import name_symbols

_ENCODER = Bm25Encoder()


def _ids(text: str) -> set[int]:
    return set(_ENCODER.embed_query(text).indices)


def test_question_words_and_stop_words_carry_nothing() -> None:
    assert _ids("What is the and how do I") == set()


def test_inflected_words_meet() -> None:
    assert _ids("installing") == _ids("installed") == _ids("Install")


@pytest.mark.parametrize("asked", ["parse_error", "parse error", "parseerror"])
def test_a_snake_case_name_is_found_whole_and_in_parts(asked: str) -> None:
    document = set(_ENCODER.embed_document("raise parse_error here").indices)
    assert _ids(asked) <= document


@pytest.mark.parametrize("asked", ["parseError", "parse error", "Parse"])
def test_a_camel_case_name_is_found_whole_and_in_parts(asked: str) -> None:
    document = set(_ENCODER.embed_document("raise parseError here").indices)
    assert _ids(asked) <= document


def test_plain_text_is_not_expanded() -> None:
    text = "Plain words, JSON and HTTP stay as they are."
    assert expand_identifiers(text) == text


def test_terms_have_the_surface_form_of_the_query() -> None:
    surfaces = {term.surface for term in _ENCODER.terms("How do I configure Retries in client_a?")}
    assert {"configure", "Retries"} <= surfaces
    assert {term.term_id for term in _ENCODER.terms("running the tests")} == _ids(
        "running the tests"
    )


def test_every_query_term_has_a_surface() -> None:
    query = "What does getUserName's v1.2.3 return when HTTP_500 - caf\u00e9 isn't C++?"
    assert {term.term_id for term in _ENCODER.terms(query)} == _ids(query)


def test_the_average_length_is_measured_and_changes_documents_only() -> None:
    short, long = ["alpha beta gamma"] * 3, ["alpha " * 50 + "beta gamma"] * 3
    for_short, for_long = _ENCODER.fitted(short), _ENCODER.fitted(long)
    text = "alpha beta gamma delta"
    assert for_short.embed_document(text).values < for_long.embed_document(text).values
    assert for_short.embed_query(text) == for_long.embed_query(text)
    assert for_short.name == for_long.name == _ENCODER.name
    assert for_short.embed_document(short[0]).values == pytest.approx((1.0, 1.0, 1.0))
    assert _ENCODER.fitted([]).embed_document("") == _ENCODER.embed_document("")


def test_parameters_are_part_of_the_name() -> None:
    assert Bm25Encoder(k1=1.2).name != Bm25Encoder(k1=1.6).name
    assert Bm25Encoder(b=0.5).name != Bm25Encoder(b=0.75).name


def test_no_term_weighs_more_than_the_saturation() -> None:
    vector = _ENCODER.embed_document("word " * 50)
    assert max(vector.values) < _ENCODER.saturation


@pytest.mark.parametrize("asked", ["^", "caret", "the caret operator", "x ^ y"])
def test_an_operator_is_found_by_its_sign_and_its_name(asked: str) -> None:
    document = _ENCODER.embed_document('The "^" operator yields the exclusive or.')
    plain = _ENCODER.embed_document("The operator yields the exclusive or.")
    assert (_ids(asked) - {*_ids("operator x y")}) & set(document.indices)
    assert not (_ids(asked) - {*_ids("operator x y")}) & set(plain.indices)


def test_a_marked_name_is_told_apart_from_the_word_in_it() -> None:
    marked, plain = _ids("__del__"), _ids("del")
    assert plain < marked
    assert marked <= set(_ENCODER.embed_document("Define object.__del__(self).").indices)


@pytest.mark.parametrize(
    "text", ["https://docs.example/a", "a &amp; b", "**bold** and | cell |", "a -> b", "C++ != C"]
)
def test_markup_and_addresses_are_no_operators(text: str) -> None:
    assert "sign" not in name_symbols(text)


def test_a_sign_has_the_surface_form_of_the_query() -> None:
    assert [term.surface for term in _ENCODER.terms("What does @ do?")] == ["@"]
