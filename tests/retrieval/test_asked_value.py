"""The kind of value a question asks for, and whether a sentence holds one."""

from __future__ import annotations

import pytest

from retrieval.asked_value import AskedKind, asked_kind, holds_value


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How many documents can I upload to a project?", "number"),
        ("What is the default timeout of a request?", "number"),
        ("Which embedding dimension does the large model have?", "number"),
        ("What is the price per million tokens?", "money"),
        ("How much does the team plan cost?", "money"),
        ("When was the feature released?", "date"),
        ("In what year did the project start?", "date"),
        ("Who wrote the specification?", "name"),
        ("When deciding between two models, what should I weigh?", "none"),
        ("How do I configure single sign-on?", "none"),
        ("What is the largest model called?", "none"),
    ],
)
def test_questions_ask_for_a_kind_of_value(question: str, kind: AskedKind) -> None:
    assert asked_kind(question) == kind


@pytest.mark.parametrize(
    ("sentence", "kind", "held"),
    [
        ("You can upload up to 20 documents.", "number", True),
        ("Uploads are retried twice.", "number", True),
        ("Uploads are limited.", "number", False),
        ("It costs $3 per million tokens.", "money", True),
        ("See the pricing page for 4 plans.", "money", False),
        ("Released on June 20th, 2024.", "date", True),
        ("It may be released soon.", "date", False),
        ("The proposal was written by Guido van Rossum and Nick Coghlan.", "name", True),
        ("the specification for the statement", "name", False),
        ("anything at all", "none", True),
    ],
)
def test_sentences_hold_values_of_a_kind(sentence: str, kind: AskedKind, held: bool) -> None:
    assert holds_value(sentence, kind, "a question without numbers") is held


def test_a_number_of_the_question_itself_is_no_answer() -> None:
    question = "How many tokens does Claude 3 read?"
    assert not holds_value("Claude 3 reads long texts.", "number", question)
    assert holds_value("Claude 3 reads 200,000 tokens.", "number", question)
