from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.citing.markers import find_markers
from prose.markup import code
from prose.sentences import split_sentences

# Pieces that make boundaries interesting; joined in every order by the property tests.
PIECES = st.sampled_from(
    [
        "Claude",
        "is",
        "fast.",
        "e.g.",
        "v3.5.1",
        "It costs $3.00.",
        "[1]",
        "[2, 3].",
        ". [4]",
        "`a.b`",
        "```\nx = 1. y\n```",
        "\n\n",
        "\n- item.",
        "\n1. First",
        "\n",
        " a. B ",
        " c ",
        "\n",
        "...",
        "Really?",
        "“Quote.”",
        "[a. b](http://x.y/z. )",
        "https://a.b/c.d.",
        "这是。",
        "(See x.)",
        "\n# Head",
        "```",
        "``",
        "Dr.",
        "No. 5",
        "\n> said.",
        "!",
        "\t",
        "  ",
    ]
)
DOCUMENTS = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=25).map(" ".join))


def texts(text: str) -> list[str]:
    return [sentence.text for sentence in split_sentences(text)]


@given(DOCUMENTS)
def test_sentences_cover_the_text_with_exact_offsets(text: str) -> None:
    position = 0
    for sentence in split_sentences(text):
        assert text[position : sentence.start].strip() == ""
        assert text[sentence.start : sentence.end] == sentence.text
        assert sentence.text == sentence.text.strip() != ""
        position = sentence.end
    assert text[position:].strip() == ""


@given(DOCUMENTS)
def test_no_boundary_falls_inside_a_marker_or_code(text: str) -> None:
    edges = {edge for sentence in split_sentences(text) for edge in (sentence.start, sentence.end)}
    for marker in find_markers(text):
        assert not edges & set(range(marker.start + 1, marker.end))
    for start, end in code(text):
        inside = edges & set(range(start + 1, end))
        assert all(text[edge:end].strip() == "" for edge in inside)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is fast. It is small.", ["It is fast.", "It is small."]),
        ("It is fast. [1] It is small [2].", ["It is fast. [1]", "It is small [2]."]),
        ("It is fast.[1][2] It is small.", ["It is fast.[1][2]", "It is small."]),
        ("Use a model, e.g. Haiku. Then go.", ["Use a model, e.g. Haiku.", "Then go."]),
        ("Version 3.11.2 costs $3.00 per call.", ["Version 3.11.2 costs $3.00 per call."]),
        ("The limit is 5. The next is 6.", ["The limit is 5.", "The next is 6."]),
        ("See No. 5 for more. Done.", ["See No. 5 for more.", "Done."]),
        ("Wait... Then go.", ["Wait...", "Then go."]),
        ("Wait ... and go on.", ["Wait ... and go on."]),
        ("He said “Stop.” Then he left.", ["He said “Stop.”", "Then he left."]),
        ("Ask “Is it on?” and wait.", ["Ask “Is it on?” and wait."]),
        ("Call `a. B` first. End.", ["Call `a. B` first.", "End."]),
        ("Open https://a.b/c. Then read.", ["Open https://a.b/c.", "Then read."]),
        ("Fast. max_tokens is required.", ["Fast.", "max_tokens is required."]),
        ("这是。那是！", ["这是。", "那是！"]),
        ("J. Smith wrote it.", ["J. Smith wrote it."]),
    ],
)
def test_prose_is_split_at_its_ends(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


def test_lists_tables_headings_and_fences_are_units() -> None:
    text = (
        "# Steps. All\nIntro:\n1. First step. Do it\n2. Second\n- bullet\n\n"
        "| a. B | c |\n|---|---|\n\n```py\nx = 1. \nFoo. Bar\n```\nAfter."
    )
    assert texts(text) == [
        "# Steps. All",
        "Intro:",
        "1. First step.",
        "Do it",
        "2. Second",
        "- bullet",
        "| a. B | c |",
        "|---|---|",
        "```py\nx = 1. \nFoo. Bar\n```",
        "After.",
    ]
    assert [sentence.is_code for sentence in split_sentences(text)].index(True) == 8


def test_a_soft_wrapped_sentence_goes_on_and_a_short_line_ends_one() -> None:
    wrapped = (
        "The statement is executed by the interpreter in the order of its\n"
        "Parts. It ends here.\nShort title\nAnother line"
    )
    assert texts(wrapped) == [
        "The statement is executed by the interpreter in the order of its\nParts.",
        "It ends here.",
        "Short title",
        "Another line",
    ]


def test_an_empty_text_has_no_sentences() -> None:
    assert split_sentences("  \n\t ") == []
