from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from agent.contract import Evidence
from agent.given import in_stored, kept_of
from tests.agent.test_prompt import evidence

WHOLE = "One is first. Two is second. Three is third."
FIRST, THIRD = (0, 13), (29, 44)


def cut(text: str, kept: tuple[tuple[int, int], ...]) -> Evidence:
    return replace(evidence(1, text), stored=WHOLE, kept=kept)


def test_words_of_a_packed_passage_are_found_in_the_stored_one() -> None:
    passage = cut("One is first. Three is third.", (FIRST, THIRD))
    start = passage.text.index("Three")
    left, right = in_stored(passage, (start, len(passage.text)))
    assert WHOLE[left:right] == "Three is third."


def test_words_over_a_gap_reach_from_their_first_to_their_last() -> None:
    passage = cut("One is first. Three is third.", (FIRST, THIRD))
    left, right = in_stored(passage, (4, 19))
    assert WHOLE[left:right] == "is first. Two is second. Three"


def test_a_passage_cut_short_after_packing_keeps_the_beginning_of_its_stretches() -> None:
    assert kept_of(WHOLE, (FIRST, THIRD), "One is first. Three") == (FIRST, (29, 34))
    assert kept_of(WHOLE, None, "One is fi") == ((0, 9),)
    assert kept_of(WHOLE, (FIRST, THIRD), "") == ()


@given(st.data())
def test_every_given_character_is_found_where_it_stands(data: st.DataObject) -> None:
    words = data.draw(st.lists(st.text("ab.", min_size=1, max_size=5), min_size=1, max_size=8))
    whole = " ".join(words)
    edges = sorted(data.draw(st.sets(st.integers(0, len(words)), min_size=2, max_size=6)))
    starts = [sum(len(word) + 1 for word in words[:edge]) for edge in edges]
    kept = tuple((left, right - 1) for left, right in zip(starts[::2], starts[1::2], strict=False))
    text = "\n\n".join(whole[left:right] for left, right in kept)
    assert kept_of(whole, kept, text) == kept
    passage = replace(evidence(1, text), stored=whole, kept=kept)
    for at, character in enumerate(text):
        if not character.isspace():
            left, right = in_stored(passage, (at, at + 1))
            assert whole[left:right] == character
