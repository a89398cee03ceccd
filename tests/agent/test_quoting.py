from __future__ import annotations

import pytest

from agent.quoting import inline


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('"__new__()" creates it.', "`__new__()` creates it."),
        ("Call object.__init__(self[, ...]) first.", "Call `object.__init__(self[, ...])` first."),
        ("Read a[1] and b.", "Read `a[1]` and b."),
        ("See <script>alert(1)</script>.", "See `<script>alert(1)</script>`."),
        ("if x < y and y > z", "if x < y and y > z"),
        ("The *suite* is **bold text** here.", "The *suite* is **bold text** here."),
        ("Pass **kwargs on.", "Pass `**kwargs` on."),
        ("`already[1]` code", "`already[1]` code"),
        ("See [the guide](https://evil.example/x) now.", "See the guide now."),
        ("![alt text](https://evil.example/x.png)", "alt text"),
        ('[a](https://e.example "title text") b', "a b"),
        ("[4] is a footnote", "`[4]` is a footnote"),
    ],
)
def test_prose_shows_its_words_and_nothing_else(text: str, shown: str) -> None:
    assert inline(text) == shown
