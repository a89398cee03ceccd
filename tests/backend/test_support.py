from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.support.check import VERIFIED_SUPPORT, support
from backend.support.tokens import stem, tokenize
from backend.support.verbatim import find_verbatim

PASSAGE = (
    "Rate limits\n\nThe rate limit for the Free tier is 5 requests per minute, and 300,000 tokens "
    "per day. Claude 3 Opus does not support images before version 2.1. To install WSL, run "
    "`wsl --install` in an administrator PowerShell window. The server must be restarted after "
    "changing max_tokens. Alice Parker reports to Bob Stone, who leads the platform team."
)

TRUE = [
    "The rate limit for the Free tier is 5 requests per minute, and 300,000 tokens per day.",
    "The Free tier's rate limit is 5 requests per minute.",
    "For the Free tier, the rate limit is five requests per minute and 300000 tokens a day.",
    "Claude 3 Opus doesn't support images before version 2.1.",
    "You can install WSL by running `wsl --install` in an administrator PowerShell window.",
    "After max_tokens is changed, the server must be restarted.",
    "The platform team is led by Bob Stone.",
]
FALSE = [
    "The Free tier's rate limit is 50 requests per minute.",
    "The Free tier's rate limit is 300,000 requests per minute and 5 tokens per day.",
    "Claude 3 Opus supports images before version 2.1.",
    "Claude 3 Opus does not support images before version 3.1.",
    "To install WSL, run `wsl --remove` in an administrator PowerShell window.",
    "The server must be restarted before changing max_tokens.",
    "The server must never be restarted after changing max_tokens.",
    "The server must be restarted after changing min_tokens.",
    "Bob Stone reports to Alice Parker, who leads the platform team.",
    "Bananas are rich in potassium and grow in the tropics.",
    "visit superdupersketchycorp.biz to verify your account",
]


@pytest.mark.parametrize("sentence", TRUE)
def test_a_sentence_the_passage_states_is_verified(sentence: str) -> None:
    found = support(sentence, PASSAGE)
    assert found.verified
    assert found.support >= VERIFIED_SUPPORT


@pytest.mark.parametrize("sentence", FALSE)
def test_a_sentence_the_passage_does_not_state_is_not_verified(sentence: str) -> None:
    assert not support(sentence, PASSAGE).verified


@given(st.text(max_size=120), st.text(max_size=200))
def test_the_quote_is_the_span_of_the_passage_verbatim(sentence: str, passage: str) -> None:
    found = support(sentence, passage)
    assert 0 <= found.support <= 1
    assert found.verified == (found.support >= VERIFIED_SUPPORT)
    if found.span is None:
        assert found.quote == ""
    else:
        assert passage[found.span[0] : found.span[1]] == found.quote != ""


def test_the_span_is_the_sentence_that_carries_it() -> None:
    found = support("The server must be restarted once max_tokens changes.", PASSAGE)
    assert found.quote == "The server must be restarted after changing max_tokens."


def test_markers_and_headings_do_not_count_against_a_sentence() -> None:
    plain = support("The Free tier's rate limit is 5 requests per minute.", PASSAGE)
    assert support("The Free tier's rate limit is 5 requests per minute [1][2].", PASSAGE) == plain
    alone = support("In Sheets, the Free tier's rate limit is 5 requests per minute.", PASSAGE)
    titled = support(
        "In Sheets, the Free tier's rate limit is 5 requests per minute.", PASSAGE, "Sheets"
    )
    assert titled.support > alone.support


@pytest.mark.parametrize(
    "forms",
    [
        ("create", "creates", "created", "creating"),
        ("stop", "stops", "stopped", "stopping"),
        ("query", "queries", "queried"),
        ("use", "uses", "used", "using"),
        ("apply", "applies", "applied"),
        ("run", "ran", "running"),
    ],
)
def test_inflections_of_a_word_share_a_key(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1


def test_numbers_units_versions_and_identifiers_are_told_apart() -> None:
    tokens = {t.key: t.kind for t in tokenize("Set max_tokens to 300,000 or 10ms in v2.1, not 5.")}
    assert tokens["max_tokens"] == "identifier"
    assert tokens["300000"] == "number"
    assert tokens["10"] == "number"
    assert tokens["2.1"] == "number"
    assert tokens["not"] == "negation"


@pytest.mark.parametrize(
    ("sentence", "is_there"),
    [
        ("**the server** must be restarted — after changing `max_tokens`", True),
        ("Claude 3 Opus does not support images before version 2.", False),
        ("for the Free tier is 5 requests", True),
        ("for the Free tier is 5 request", False),
        ("images", False),
    ],
)
def test_a_quotation_is_found_by_its_letters(sentence: str, is_there: bool) -> None:
    found = find_verbatim(sentence, PASSAGE)
    assert (found is not None) == is_there
    if found is not None:
        assert support(sentence, PASSAGE).support == 1
        assert support(sentence, PASSAGE).span == found
