"""A passage as it is read: joined lines, and marks that belong to markers."""

from __future__ import annotations

import pytest

from backend.pages.passage import show_passage
from backend.pages.reading import Mark, flow, markers_in, marks_of, to_the_end
from tests.browser.answers import make_answer


def test_lines_of_a_paragraph_are_joined_and_every_place_stays() -> None:
    text = "Set to a\ncolumn of\n  few words.\n\nNext."
    shown = flow(text)
    assert len(shown) == len(text)
    assert "".join(shown) == "Set to a column of few words.\n\nNext."
    assert "".join(shown[text.index("few") :]).startswith("few words.")


@pytest.mark.parametrize(
    "text",
    [
        "Code:\n\n    x = 1\n    y = 2",
        "```\na\nb\n```",
        "| a | b |\n| 1 | 2 |",
        "A line that ends  \nwhere it is meant to.",
    ],
)
def test_line_ends_that_are_meant_are_kept(text: str) -> None:
    assert "".join(flow(text)) == text


def test_marks_may_overlap_and_carry_the_markers_they_belong_to() -> None:
    shown = show_passage("abcdef", [Mark(0, 4, (0,)), Mark(2, 6, (1, 2))])
    assert shown == (
        '<mark data-markers="0">ab</mark><mark data-markers="0 1 2">cd</mark>'
        '<mark data-markers="1 2">ef</mark>'
    )


def test_text_is_escaped_on_both_sides_of_a_mark() -> None:
    shown = show_passage("<b>&x</b>", [Mark(3, 5)])
    assert shown == '&lt;b&gt;<mark data-markers="">&amp;x</mark>&lt;/b&gt;'


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (2, 2), (3, 1), (0, 99)])
def test_mark_outside_the_text_marks_nothing(start: int, end: int) -> None:
    assert show_passage("abc", [Mark(start, end)]) == "abc"


def test_markers_are_counted_over_the_whole_answer() -> None:
    answer = "One [1]. Two [2][1]. Three without. Four [1]."
    assert markers_in(answer, 1, 0, 8) == (0,)
    assert markers_in(answer, 1, 9, 20) == (2,)
    assert markers_in(answer, 2, 9, 20) == (1,)
    assert markers_in(answer, 1, 21, 35) == (3,), "a sentence without a marker has the one below"
    assert markers_in(answer, 7, 0, len(answer)) == ()


def test_each_sentence_marks_the_words_that_carry_it() -> None:
    answer = make_answer()
    first, second = marks_of(answer, answer.retrieved_chunks[0], 1)
    text = answer.retrieved_chunks[0].text
    assert text[first.start : first.end] == answer.citations[0].quote
    assert first.markers == (0,)
    assert second.markers == (1,)
    assert second.start >= first.end


def test_record_without_sentences_marks_the_span_of_its_citation() -> None:
    answer = make_answer().model_copy(update={"sentences": ()})
    (mark,) = marks_of(answer, answer.retrieved_chunks[0], 1)
    assert answer.retrieved_chunks[0].text[mark.start : mark.end] == answer.citations[0].quote
    assert mark.markers == ()


def test_words_end_with_what_closes_them() -> None:
    text = "a *generator function*.  Next"
    assert text[: to_the_end(text, text.index("function") + 8)] == "a *generator function*."
