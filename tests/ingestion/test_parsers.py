from __future__ import annotations

from io import BytesIO

import docx
import openpyxl
import pptx
import pytest
from pptx.util import Emu

from ingestion.dates import iso_utc
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
        "2026-01-02T00:00:00+00:00",
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


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2026-01-02", "2026-01-02T00:00:00+00:00"),
        ("07/16/2024", "2024-07-16T00:00:00+00:00"),
        ("2026-01-02T10:00:00+02:00", "2026-01-02T08:00:00+00:00"),
        ("2026-08-22T02:26:42.682918Z", "2026-08-22T02:26:42+00:00"),
        ("Tue, 10 Jun 2003 04:00:00 GMT", "2003-06-10T04:00:00+00:00"),
        ("yesterday", ""),
        ("13/40/2024", ""),
        ("", ""),
    ],
)
def test_dates_of_all_kinds_become_utc(written: str, expected: str) -> None:
    assert iso_utc(written) == expected


def test_a_feed_gives_a_document_per_entry_at_its_own_address() -> None:
    feed = (
        "<rss version='2.0'><channel><title>News</title><item><title>One</title>"
        "<link>https://x.example/one</link><pubDate>Tue, 10 Jun 2003 04:00:00 GMT</pubDate>"
        "<description>&lt;p&gt;First &lt;b&gt;words&lt;/b&gt;.&lt;/p&gt;</description></item>"
        "<item><title>Two</title><link>https://x.example/two</link>"
        "<description>Second.</description></item></channel></rss>"
    )
    documents = read("feed.xml", feed.encode()).documents
    assert [(d.url, d.title) for d in documents] == [
        ("https://x.example/one", "One"),
        ("https://x.example/two", "Two"),
    ]
    assert documents[0].updated_at == "2003-06-10T04:00:00+00:00"
    assert "First words." in documents[0].text


def test_subtitles_are_cut_at_speakers_and_keep_their_times() -> None:
    text = (
        "WEBVTT\n\n00:00:01.000 --> 00:00:04.000\n<v Ann>Welcome to the show.\n\n"
        "00:00:05.000 --> 00:00:07.000\n<v Ann>Today: indexes.\n\n"
        "00:01:10.000 --> 00:01:12.000\n<v Bob>Thank you.\n"
    )
    document = read("talk.vtt", text.encode()).documents[0]
    turns = [(b.heading, b.anchor) for b in document.blocks if b.kind == "heading"]
    assert turns == [("Ann 0:00:01", "t=1"), ("Bob 0:01:10", "t=70")]
    assert "Welcome to the show.\nToday: indexes." in document.text


def test_a_dialogue_is_cut_at_speakers() -> None:
    text = "\n\n".join(f"{'Ann' if n % 2 else 'Bob'}: Turn number {n}." for n in range(6))
    document = read("interview.txt", text.encode()).documents[0]
    assert [b.heading for b in document.blocks if b.kind == "heading"] == ["Bob", "Ann"] * 3


def test_llms_full_in_its_other_dialects() -> None:
    by_path = "---\n/docs/one.md\n---\n\n# One\n\nA.\n\n---\n/docs/two.md\n---\n\n# Two\n\nB.\n"
    first = read("llms-full.txt", by_path.encode()).documents
    assert [(d.title, d.url) for d in first] == [
        ("One", "https://docs.example/docs/one.md"),
        ("Two", "https://docs.example/docs/two.md"),
    ]
    by_title = "# One\n\nA.\n\n```sh\n# no page\n```\n\n# Two\n\nB.\n"
    second = read("llms-full.txt", by_title.encode()).documents
    assert [d.title for d in second] == ["One", "Two"]
    assert "# no page" in second[0].text


def test_tabs_are_sections_and_what_follows_them_is_not_theirs() -> None:
    text = (
        '## Install\n\n<Tabs>\n<Tab title="Linux">\n\nUse apt.\n\n</Tab>\n<Tab title="Mac">\n\n'
        "Use brew.\n\n</Tab>\n</Tabs>\n\nThen restart.\n"
    )
    document = read("page.mdx", text.encode()).documents[0]
    found = [
        b.heading if b.kind == "heading" else document.text[b.start : b.end]
        for b in document.blocks
    ]
    assert found == [
        "Install",
        "Linux",
        "Use apt.",
        "Install",
        "Mac",
        "Use brew.",
        "Install",
        "Then restart.",
    ]


def test_office_documents_give_headings_tables_and_slides() -> None:
    word = docx.Document()
    word.add_heading("Manual", 1)
    word.add_paragraph("Press the green button.")
    table = word.add_table(rows=2, cols=2)
    for cell, value in zip([c for r in table.rows for c in r.cells], "abcd", strict=True):
        cell.text = value
    buffer = BytesIO()
    word.save(buffer)
    document = read("manual.docx", buffer.getvalue()).documents[0]
    assert [b.kind for b in document.blocks] == ["heading", "text", "table"]
    assert "| a | b |" in document.text

    slides = pptx.Presentation()
    slide = slides.slides.add_slide(slides.slide_layouts[1])
    title, notes = slide.shapes.title, slide.notes_slide.notes_text_frame
    assert title is not None
    assert notes is not None
    title.text_frame.text = "Roadmap"
    slide.shapes.add_textbox(Emu(0), Emu(0), Emu(9), Emu(9)).text_frame.text = "Ship it in May."
    notes.text = "Mention the budget."
    buffer = BytesIO()
    slides.save(buffer)
    document = read("talk.pptx", buffer.getvalue()).documents[0]
    assert document.blocks[1].facts == {"slide": 1}
    assert "Ship it in May." in document.text
    assert "Mention the budget." in document.text

    book = openpyxl.Workbook()
    sheet = book.create_sheet("Cities")
    sheet.append(["City", "People"])
    sheet.append(["Bonn", 330000])
    buffer = BytesIO()
    book.save(buffer)
    document = read("cities.xlsx", buffer.getvalue()).documents[0]
    assert "| Bonn | 330000 |" in document.text
