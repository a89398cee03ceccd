from __future__ import annotations

from ingestion.chunkers import make_chunker
from ingestion.document import RawContent
from ingestion.drafts import Draft
from ingestion.parsers.registry import parse
from ingestion.parsers.source_code import defined_names
from tests.ingestion.fakes import TopicEmbedder

PYTHON = '''"""Reads settings."""

import os


class Reader:
    """Reads."""

    def read(self, name: str) -> str:
        """Return a value."""
        return os.environ[name]

    async def wait(self) -> None:
        ...


def main() -> None:
    print(Reader().read("HOME"))
'''
RUST = """use std::io;

pub struct Pool { size: usize }

impl Pool {
    pub fn new(size: usize) -> Self {
        Pool { size }
    }
}

fn helper(x: i32) -> i32 { x }
"""


def cut(name: str, text: str, target: int = 40) -> tuple[Draft, ...]:
    document = parse(RawContent(name, "https://code.example/f", text.encode())).documents[0]
    chunker = make_chunker(
        "structural", TopicEmbedder(), input_limit_tokens=128, target_tokens=target
    )
    return chunker.chunk(document).drafts


def test_python_is_cut_at_definitions_under_the_names_around_them() -> None:
    drafts = cut("reader.py", PYTHON, target=36)
    method = next(draft for draft in drafts if "os.environ" in draft.text)
    assert method.section_heading == "def read(self, name: str) -> str"
    assert method.parent_heading == "class Reader"
    assert method.source_url.endswith("#L9")
    assert method.metadata["line"] == 9
    assert "def read" in method.text


def test_other_languages_are_cut_at_lines_that_begin_a_definition() -> None:
    drafts = cut("pool.rs", RUST, target=20)
    method = next(
        draft for draft in drafts if "Pool { size }\n" in draft.text and "fn new" in draft.text
    )
    assert method.path[0].startswith("impl Pool")


def test_the_names_a_file_defines_are_embedded_with_each_piece() -> None:
    assert defined_names(PYTHON) == ["Reader", "read", "wait", "main"]
    assert "Reader read wait main" in cut("reader.py", PYTHON)[0].text_for_embedding


def test_no_line_of_code_is_lost() -> None:
    for name, text in (("reader.py", PYTHON), ("pool.rs", RUST)):
        shown = "\n".join(draft.text for draft in cut(name, text, target=20))
        assert [line for line in text.split("\n") if line.strip() and line not in shown] == []
