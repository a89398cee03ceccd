"""Reading labelled sets."""

from __future__ import annotations

from pathlib import Path

import pytest

from evals.errors import EvalSetError
from evals.quotes import holds
from evals.sets import half_of, load_set, take

QUERY = '{"id": "q1", "question": "How?", "relevant_ids": ["a"], "answerable": true}\n'


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return folder


def test_each_file_gives_its_kind(tmp_path: Path) -> None:
    folder = write(
        tmp_path,
        corpus='{"id": "a", "text": "one\\u2028line"}\n',
        queries=QUERY,
        short_queries='{"id": "s1", "question": "When?"}\n',
        unanswerable='{"id": "u1", "question": "Who?", "band": "far", "note": "kept out"}\n',
    )
    loaded = load_set(folder)
    assert [one.kind for one in loaded.queries + loaded.short] == ["long", "short"]
    assert loaded.unanswerable[0].band == "far"
    assert loaded.sections[0].id == "a"
    assert loaded.corpus_digest


def test_a_raw_line_separator_inside_a_text_does_not_end_the_row(tmp_path: Path) -> None:
    folder = write(tmp_path, corpus='{"id": "a", "text": "one\u2028line"}\n', queries=QUERY)
    assert load_set(folder).sections[0].text == "one\u2028line"


def test_folder_without_questions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EvalSetError, match=r"no queries\.jsonl"):
        load_set(tmp_path)


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    with pytest.raises(EvalSetError, match="line 2"):
        load_set(write(tmp_path, queries=QUERY + '{"id": 7}\n'))


def test_an_id_that_stands_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EvalSetError, match="q1 stands twice"):
        load_set(write(tmp_path, queries=QUERY + QUERY))


def test_halves_are_fixed_disjoint_and_complete(tmp_path: Path) -> None:
    rows = "".join(QUERY.replace("q1", f"q{number}") for number in range(40))
    queries = load_set(write(tmp_path, queries=rows)).queries
    dev, test = take(queries, "dev"), take(queries, "test")
    assert {one.id for one in dev} | {one.id for one in test} == {one.id for one in queries}
    assert not {one.id for one in dev} & {one.id for one in test}
    assert half_of("q1") == half_of("q1")
    assert 10 < len(dev) < 30


def test_quotes_match_over_line_breaks_and_typographic_marks() -> None:
    assert holds("the object\u2019s  identity\nis less", "object's identity is less")
    assert not holds("the object's type", "object's identity")
