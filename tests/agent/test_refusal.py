from __future__ import annotations

import pytest

from agent.refusal import clean, is_refusal, take_not_found

SENTENCE = "I could not find this in the documentation."


@pytest.mark.parametrize(
    "text",
    [
        "i could not find this in the documentation",
        f'"{SENTENCE}"',
        f"{SENTENCE} [1]",
        f"**{SENTENCE}**",
        "I cannot find the answer in the evidence.",
        "I'm sorry, but I am unable to find this information.",
        "The documentation doesn't mention Kubernetes.",
        "The provided context does not contain information about pricing [2].",
        "There is no information about pricing in the passages. You may want to ask support.",
        "Sorry, pricing is not covered in the documentation.",
        "We don't have enough information to answer the question.",
        "I can’t determine the price from these passages.",
    ],
)
def test_refusals_are_recognised(text: str) -> None:
    assert is_refusal(text, SENTENCE)


@pytest.mark.parametrize(
    "text",
    [
        "The default port is 8000 [1].",
        "If the file does not contain a header, the parser cannot find the columns [2].",
        "The default is 8000 [1]. The documentation does not mention other ports.",
        "An `ImportError` is raised when a module could not be found [3].",
        "No.",
        "Use this:\n```\nmake run\n```\nThe documentation does not say more.",
        "The text does not wrap when the option is set [1].",
        "You cannot find it in the menu; it is under Settings [4].",
        f"{SENTENCE} However, the port is 8000 [1].",
    ],
)
def test_answers_are_not_taken_for_refusals(text: str) -> None:
    assert not is_refusal(text, SENTENCE)


def test_reasoning_before_the_answer_is_removed_also_without_its_opening_tag() -> None:
    assert clean("let me see</think>It is 8000 [1].") == "It is 8000 [1]."


def test_not_found_lines_are_taken_off_and_nothing_names_nothing() -> None:
    text = "It is 8000 [1].\n\n**Not found:** the host\nNot found: none"
    assert take_not_found(text) == ("It is 8000 [1].", ("the host",))
