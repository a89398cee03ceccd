from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.citing.markers import find_markers, keep_markers
from prose.markup import code

PIECES = st.sampled_from(
    [
        "[1]",
        "[2]",
        "[9]",
        "[1, 9]",
        "[1-3]",
        "[[9]",
        "1]",
        "(see [9])",
        "(see [2])",
        "`a[9]`",
        "x[9]",
        "tools[9].",
        "[9](http://e.x)",
        "[t](http://e.x)",
        "\n[9]: http://e.x\n",
        "【9†source】",
        "【1】",
        "\\[9\\]",
        "[",
        "]",
        "9",
        ",",
        "Text.",
        " ",
        "```\n[9]\n```",
        "`",
        "[^9]",
        "[0]",
        "[99999-1]",
    ]
)
ANSWERS = st.one_of(
    st.lists(PIECES, max_size=20).map("".join), st.text("[]【】19,-(see )`\\ \n:x", max_size=60)
)
ALLOWED = st.sets(st.integers(1, 4))


@given(ANSWERS, ALLOWED)
def test_no_marker_outside_the_set_survives(text: str, allowed: set[int]) -> None:
    kept = keep_markers(text, allowed)
    assert {n for marker in find_markers(kept.text) for n in marker.numbers} <= allowed


@given(ANSWERS, ALLOWED)
def test_cleaning_twice_changes_nothing(text: str, allowed: set[int]) -> None:
    once = keep_markers(text, allowed)
    assert keep_markers(once.text, allowed).text == once.text


@given(ANSWERS, ALLOWED)
def test_code_is_left_as_it_was(text: str, allowed: set[int]) -> None:
    answer = "`values[9]` and [9].\n\n" + text
    assert keep_markers(answer, allowed).text.startswith("`values[9]` and")
    assert "values[9]" in answer[slice(*next(iter(code(answer))))]


@pytest.mark.parametrize(
    ("text", "expected", "removed"),
    [
        ("Yes [1].", "Yes [1].", ()),
        ("Yes [1, 2].", "Yes [1][2].", ()),
        ("Yes [1][1] [2].", "Yes [1] [2].", ()),
        ("Yes [1-3].", "Yes [1][2].", (3,)),
        ("Yes [7].", "Yes.", (7,)),
        ("Yes [1, 7].", "Yes [1].", (7,)),
        ("Yes (see [7]).", "Yes.", (7,)),
        ("Yes (see [2]).", "Yes (see [2]).", ()),
        ("Yes 【2†guide】.", "Yes [2].", ()),
        ("Yes [^2].", "Yes [2].", ()),
        ("Yes [2](https://evil.example).", "Yes [2].", ()),
        ("Read [the guide](https://a.b/[7]).", "Read [the guide](https://a.b/[7]).", ()),
        ("Use `a[7]` and argv[7] and x[0].", "Use `a[7]` and argv[7] and x[0].", ()),
        ("It has tools[1].", "It has tools[1].", ()),
        (r"Index \[7\] is the last.", r"Index \[7\] is the last.", ()),
        ("Nested [[9]7] here.", "Nested here.", (9, 7)),
        ("Yes [1].\n\n[1]: https://evil.example", "Yes [1].\n\n", ()),
        ("Yes [1-999999].", "Yes [1].", (999999,)),
    ],
)
def test_markers_are_rewritten(text: str, expected: str, removed: tuple[int, ...]) -> None:
    kept = keep_markers(text, {1, 2})
    assert (kept.text, kept.removed) == (expected, removed)
