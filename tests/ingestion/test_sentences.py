from __future__ import annotations

import pytest

from ingestion.sentences import sentence_spans


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text, 0, len(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Use e.g. Python 3.11 today. Then go on.", ["Use e.g. Python 3.11 today.", "Then go on."]),
        ("Call obj.method() first. It works.", ["Call obj.method() first.", "It works."]),
        (
            "A hard-wrapped\nline ends here. Next\none.",
            ["A hard-wrapped\nline ends here.", "Next\none."],
        ),
        ("Before\n\nafter", ["Before", "after"]),
        ("List:\n- one thing\n- another", ["List:", "- one thing", "- another"]),
        ("第一句。第二句。", ["第一句。", "第二句。"]),
        ("no end at all", ["no end at all"]),
        ("   ", []),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, expected: list[str]) -> None:
    assert split(text) == expected
