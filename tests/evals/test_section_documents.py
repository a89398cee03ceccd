"""Sections of labelled sets as documents: prose under its headings, code under its names."""

from __future__ import annotations

from evals.section_documents import section_documents
from evals.sets import Section


def test_a_piece_of_code_is_read_within_its_file() -> None:
    pieces = (
        Section(id="1", title="pool", text="use std::io;\n\nimpl Pool {\n    fn new() {\n"),
        Section(id="2", title="pool", text="        Pool::default()\n    }\n}\n"),
        Section(id="3", title="other", text="fn main() {}\n"),
    )
    first, second, other = section_documents(pieces)
    assert (first.title, first.context) == ("", "Pool new")
    assert (second.title, second.context) == ("impl Pool", "Pool new")
    assert other.context == "main"
    assert [block.kind for block in second.blocks] == ["code"]


def test_a_section_of_prose_has_its_page_and_heading_alone() -> None:
    section = Section(
        id="a", url="https://docs.example/rate-limits", title="Limits", heading="Tokens",
        text="Tokens\ndef is a word here too.",
    )  # fmt: skip
    (document,) = section_documents((section,))
    assert (document.title, document.context) == ("rate limits", "")
    assert document.blocks[0].heading == "Tokens"
