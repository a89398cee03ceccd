from __future__ import annotations

from ingestion.repetition import repeated_lines


def drop(*lines: str) -> list[str]:
    text = "\n".join(lines)
    spans: list[tuple[int, int]] = []
    at = 0
    for line in lines:
        spans.append((at, at + len(line)))
        at += len(line) + 1
    return [text[start:end] for start, end in repeated_lines(text, spans)]


def test_the_second_of_two_equal_lines_goes() -> None:
    line = "Requests are limited to fifty a minute."
    assert drop(line, "Something else stands here.", line) == [line]


def test_a_line_glued_from_others_goes_and_its_parts_stay() -> None:
    parts = ("Install the client library.", "Set the key in the environment.", "Call the service.")
    assert drop(" ".join(parts), *parts) == [" ".join(parts)]


def test_a_line_that_adds_something_stays() -> None:
    first = "Install the client library."
    assert drop(first, f"{first} It needs Python 3.11 or later and a working compiler.") == []


def test_short_lines_may_repeat() -> None:
    assert drop("}", "else:", "}", "else:") == []


def test_the_result_does_not_depend_on_chance() -> None:
    lines = [f"Line number {at % 7} of the repeated passage." for at in range(40)]
    assert drop(*lines) == drop(*lines)
    assert len(drop(*lines)) == 33
