"""Follow-ups become questions that can be searched for alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.asking.condense import Turn, condense, name_subject

INSTALL = "How do I install Vouch on macOS?"


@pytest.mark.parametrize(
    ("earlier", "question", "searched"),
    [
        ((INSTALL,), "and on Windows?", "How do I install Vouch on Windows?"),
        ((INSTALL,), "why?", f"Why: {INSTALL}"),
        ((INSTALL,), "yes", INSTALL),
        ((INSTALL,), "tell me more", INSTALL),
        (
            ("What is the difference between a list and a tuple?",),
            "what about the second one?",
            "What is tuple?",
        ),
        (
            ("When is the else clause of a try statement executed?",),
            "and the finally clause?",
            "When is the finally clause of a try statement executed?",
        ),
        (
            ("Are bytes objects mutable?", "and bytearrays?"),
            "can they be sliced?",
            "can bytearrays be sliced, bytes objects mutable?",
        ),
        (("What is a descriptor?",), "does it need __get__?", "does it need __get__, descriptor?"),
    ],
)
def test_a_follow_up_takes_its_subject_along(
    earlier: tuple[str, ...], question: str, searched: str
) -> None:
    found = condense(question, [Turn(text) for text in earlier])
    assert (found.search_question, found.way) == (searched, "carried")


@pytest.mark.parametrize(
    "question",
    [
        "What is a prime number?",
        "Are tuples hashable?",
        "If a class defines __eq__, is it hashable?",
        "Is it possible to nest f-strings in Python?",
        "thanks, how do I cite a source?",
    ],
)
def test_a_new_subject_drags_nothing_of_the_old_one_along(question: str) -> None:
    found = condense(question, [Turn(INSTALL)])
    assert (found.search_question, found.way) == (question, "typed")


@pytest.mark.parametrize("question", ["does it support SSO?", "why?", "and on Windows?", "yes"])
def test_a_first_question_without_a_subject_is_vague(question: str) -> None:
    assert condense(question).way == "vague"


def test_turning_down_every_proposal_is_asked_back_again() -> None:
    offered = ("does the server support SSO?", "does the client support SSO?")
    asked_back = Turn("does it support SSO?", offered=offered, has_asked_back=True)
    assert condense("no", [asked_back]).way == "vague"


@pytest.mark.parametrize(
    ("question", "searched"),
    [
        ("the second one", "does the client support SSO?"),
        ("yes", "does the server support SSO?"),
        ("the proxy", "does proxy support SSO?"),
    ],
)
def test_what_was_asked_back_is_completed_by_a_choice_or_a_name(
    question: str, searched: str
) -> None:
    offered = ("does the server support SSO?", "does the client support SSO?")
    asked_back = Turn("does it support SSO?", offered=offered, has_asked_back=True)
    assert condense(question, [asked_back]).search_question == searched


def test_what_a_person_wrote_over_the_search_is_the_subject_from_then_on() -> None:
    turns = [Turn(INSTALL), Turn("and then?", search_question="How do I start the worker?")]
    assert condense("and on Windows?", turns).search_question == (
        "How do I start the worker on Windows?"
    )


def test_a_subject_takes_the_place_of_the_pronoun() -> None:
    assert name_subject("does it support SSO?", "Vouch") == "does Vouch support SSO?"
    assert name_subject("what is its limit?", "Vouch") == "what is Vouch's limit?"
    assert name_subject("why?", "Vouch") == "Vouch: why?"


@given(st.text(min_size=1, max_size=200), st.lists(st.text(min_size=1, max_size=200), max_size=5))
def test_any_text_comes_to_a_search_within_bounds(question: str, earlier: list[str]) -> None:
    found = condense(question, [Turn(text) for text in earlier])
    assert found.way != "typed" or found.search_question in question
    assert len(found.search_question) <= 2000
