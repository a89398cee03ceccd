from __future__ import annotations

import pytest

from ingestion.document import Parsed, RawContent
from ingestion.errors import UnreadableError
from ingestion.parsers.registry import parse
from ingestion.parsers.underlined import UnderlinedReader
from tests.ingestion.words import markdown


def read(name: str, data: bytes) -> Parsed:
    return parse(RawContent(name, f"https://docs.example/{name}", data))


def headings(text: str) -> list[tuple[int, str, str]]:
    return [(b.level, b.heading, b.anchor) for b in markdown(text).blocks if b.kind == "heading"]


def test_headings_in_both_styles_have_words_and_anchors() -> None:
    found = headings("# The `vouch` [command](x.md)\n\nSet up\n------\n\n## Set up\n")
    assert found == [
        (1, "The vouch command", "the-vouch-command"),
        (2, "Set up", "set-up"),
        (2, "Set up", "set-up-1"),
    ]


def test_an_explicit_anchor_is_kept_and_not_shown() -> None:
    assert headings("## Options {#opts}\n") == [(2, "Options", "opts")]


def test_a_hash_inside_a_fence_is_no_heading() -> None:
    text = "# Title\n\n````md\n# not a heading\n```sh\n# nor this\n```\n````\n"
    assert [heading for _, heading, _ in headings(text)] == ["Title"]
    assert [block.kind for block in markdown(text).blocks] == ["heading", "code"]


def test_a_fence_inside_a_list_item_is_a_block_of_its_own() -> None:
    text = "1. Do this:\n\n   ```sh\n   make run\n   ```\n\n2. Then that.\n"
    blocks = markdown(text).blocks
    assert [block.kind for block in blocks] == ["text", "code", "text"]
    assert text[blocks[1].start : blocks[1].end] == "   ```sh\n   make run\n   ```"


def test_a_table_knows_where_its_header_ends() -> None:
    text = "| a | b |\n|---|---|\n| 1 | 2 |\n"
    (table,) = markdown(text).blocks
    assert text[table.start : table.header_end] == "| a | b |\n|---|---|\n"


def test_front_matter_gives_title_and_date_and_is_no_text() -> None:
    parsed = read(
        "page.md", b"---\ntitle: Vision\ndate: 2026-01-02\n---\n---\nlang: en\n---\n\nBody.\n"
    )
    document = parsed.documents[0]
    assert (document.title, document.updated_at, document.language) == (
        "Vision",
        "2026-01-02",
        "en",
    )
    assert [document.text[b.start : b.end] for b in document.blocks] == ["Body."]
    assert parsed.dropped == {"front_matter": 2}


def test_a_ruled_off_passage_is_not_taken_for_front_matter() -> None:
    document = read("page.md", b"---\nJust a note, with: colons: in it\n---\n\nBody.\n").documents[
        0
    ]
    assert "Just a note" in "".join(document.text[b.start : b.end] for b in document.blocks)


def test_llms_full_gives_one_document_per_page() -> None:
    text = (
        "# First\nSource: https://x.example/first\n\nIntro.\n\n# In-page heading\n\n"
        "```sh\n# comment\n```\n\n"
        "# Second\nSource: https://x.example/second\n\nMore.\n"
    )
    documents = read("llms-full.txt", text.encode()).documents
    assert [d.title for d in documents] == ["First", "Second"]
    assert [d.url for d in documents] == ["https://x.example/first", "https://x.example/second"]
    assert "# comment" in documents[0].text
    assert "Second" not in documents[0].text


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("empty.md", b"  \n", "empty file"),
        ("picture.md", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0", "binary"),
        ("program.exe", b"MZ program text", "no parser"),
        ("blank.md", b"---\ntitle: x\n---\n", "no text"),
    ],
)
def test_what_cannot_be_read_says_why(name: str, data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableError, match=reason):
        read(name, data)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_unicode_encodings_are_recognised(encoding: str) -> None:
    document = read(
        "page.txt", "Grüße aus Köln, and some more text.\r\n".encode(encoding)
    ).documents[0]
    assert document.text == "Grüße aus Köln, and some more text.\n"


def test_underlined_text_has_sections_definitions_and_code() -> None:
    text = (
        "Top\n***\n\nIntro text::\n\n   x = 1\n   y = 2\n\nSub part\n========\n\n"
        "object.__repr__(self)\n\n   Called by repr().  See also:\n\n      >>> repr(1)\n\n"
        "   More text.\n"
    )
    blocks = list(UnderlinedReader(text).blocks())
    assert [(b.kind, b.level, b.heading) for b in blocks] == [
        ("heading", 1, "Top"),
        ("text", 0, ""),
        ("code", 0, ""),
        ("heading", 2, "Sub part"),
        ("heading", 7, "object.__repr__(self)"),
        ("text", 0, ""),
        ("text", 0, ""),
        ("code", 0, ""),
        ("text", 0, ""),
    ]
    assert blocks[4].anchor == "object.__repr__"


def test_what_is_nested_too_deeply_for_the_parser_is_still_text() -> None:
    text = "".join(" " * 2 * n + f"- item {n}\n" for n in range(40))
    shown = "".join(text[b.start : b.end] for b in markdown(text).blocks)
    assert all(f"item {n}" in shown for n in range(40))
