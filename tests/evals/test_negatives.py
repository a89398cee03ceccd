"""Questions made by holding sections out."""

from __future__ import annotations

from evals.negatives import NEAR_MISS_BAND, SYNTHETIC_BAND, near_misses, synthetic, without
from evals.sets import Question, Section


def section(identity: str, heading: str) -> Section:
    return Section(id=identity, heading=heading, text=f"{heading}\n\nbody")


SECTIONS = (
    section("a", "Rate limits"),
    section("b", "Overview"),
    section("c", "Creating test cases"),
    section("d", "rate limits"),
    section("e", "How to rotate a key"),
    section("f", "Next steps"),
)


def test_synthetic_questions_name_headings_and_hide_every_section_of_that_heading() -> None:
    made = {one.question.question: one for one in synthetic(SECTIONS, 10)}
    assert set(made) == {
        "What does the documentation say about Rate limits?",
        "How does creating test cases work?",
        "How to rotate a key?",
    } or set(made) == {
        "What does the documentation say about rate limits?",
        "How does creating test cases work?",
        "How to rotate a key?",
    }
    limits = next(one for question, one in made.items() if "limits" in question)
    assert limits.section_ids == {"a", "d"}


def test_synthetic_questions_are_marked_and_repeat_exactly() -> None:
    made = synthetic(SECTIONS, 2)
    assert len(made) == 2
    assert made == synthetic(tuple(reversed(SECTIONS)), 2)
    for one in made:
        assert one.question.band == SYNTHETIC_BAND
        assert one.question.id.startswith("synthetic-")
        assert one.question.answerable is False


def test_labelled_questions_become_near_misses_without_their_sections() -> None:
    asked = Question(id="q", question="Which limit?", relevant_ids=("a", "d"))
    (made,) = near_misses([asked, Question(id="n", question="No label?")])
    assert made.section_ids == {"a", "d"}
    assert made.question.band == NEAR_MISS_BAND


def test_hidden_sections_take_all_their_chunks_with_them() -> None:
    sections_of = {"c1": ("a",), "c2": ("a", "b"), "c3": ("b",)}
    assert without(frozenset({"a"}), sections_of).chunk_ids == ("c3",)
