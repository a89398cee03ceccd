from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.parts import split_parts


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "What is a generator? How do I define a coroutine?",
            ("What is a generator?", "How do I define a coroutine?"),
        ),
        (
            "How do I install the client and what is the default port?",
            ("How do I install the client?", "What is the default port?"),
        ),
        (
            "What does yield do, and how many rounds are allowed?",
            ("What does yield do?", "How many rounds are allowed?"),
        ),
        (
            "Answer:\n1. What is a slice?\n2) How is a set built?\n3. When is __del__ called?",
            ("What is a slice?", "How is a set built?", "When is __del__ called?"),
        ),
        (
            "Which port is used? And also what is the price?",
            ("Which port is used?", "What is the price?"),
        ),
    ],
)
def test_independent_questions_are_split(question: str, parts: tuple[str, ...]) -> None:
    assert split_parts(question) == parts


@pytest.mark.parametrize(
    "question",
    [
        "What is the difference between a list and a tuple?",
        "What is a guard and when is it evaluated?",
        "What is a metaclass? Why would I want one?",
        "How do I check what is running and what is stopped?",
        "Explain what a slice is and how a set is built.",
        "How do __new__ and __init__ work together?",
        "What does `a ? b : c` mean? Is there another form?",
        "I use version 2.0. What changed? What is gone?",
        "Why? How so?",
        "What is version 1. 5 of the API?",
        "What is it? What is that?",
        "When routing tickets, what is measured and what are the results?",
        "What is a? What is b? What is c? What is d? What is e?",
        "Can I use break and continue in a while loop?",
    ],
)
def test_what_belongs_together_stays_whole(question: str) -> None:
    assert split_parts(question) == (question,)


@given(st.text(max_size=300))
def test_any_text_gives_one_to_four_parts_without_new_words(text: str) -> None:
    parts = split_parts(text)
    assert 1 <= len(parts) <= 4
    words = set(text.casefold().split())
    if len(parts) > 1:
        for part in parts:
            assert {word.rstrip("?") for word in part.casefold().split()} <= {
                word.strip("?.;,") for word in words
            }
