"""Files made to harm whoever reads them: each is one reason in the report, and nothing else."""

from __future__ import annotations

import os
import signal
import zipfile
from collections.abc import Iterator
from io import BytesIO

import pytest

from ingestion.document import RawContent
from ingestion.errors import UnreadableError
from ingestion.parsers.registry import parse
from ingestion.parsers.sandbox import ParseLimits, ParserProcess


def read(name: str, data: bytes) -> str:
    """Return the text of the file, or the reason why there is none."""
    try:
        return parse(RawContent(name, "https://docs.example/", data)).documents[0].text
    except UnreadableError as error:
        return f"reason: {error}"


def archive(**members: bytes) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in members.items():
            made.writestr(name.replace("__", "/").replace("_xml", ".xml"), data)
    return buffer.getvalue()


BOMB = b"<x>" + b" " * 50_000_000 + b"</x>"
ENTITIES = (
    b'<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>'
    b"<document>&b;</document>"
)


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("empty.pdf", b"", "empty file"),
        ("text.pdf", b"this is no PDF at all", "not what its name says"),
        ("broken.pdf", b"%PDF-1.7\n" + b"\x00\xff" * 500, "damaged PDF"),
        ("broken.docx", b"PK\x03\x04" + b"\x00" * 200, "damaged archive"),
        ("other.docx", archive(hello_xml=b"<a/>"), "an archive that is no office document"),
        ("bomb.docx", archive(word__document_xml=BOMB), "archive that unpacks to"),
        ("bomb.xlsx", archive(xl__workbook_xml=BOMB), "archive that unpacks to"),
        ("entities.docx", archive(word__document_xml=ENTITIES), "declares entities"),
        ("entities.pptx", archive(ppt__presentation_xml=ENTITIES), "declares entities"),
        ("entities.rss", ENTITIES.replace(b"document", b"rss"), "declares a document type"),
        ("binary.md", b"\x7fELF\x02\x01\x01\x00" + bytes(range(256)) * 4, "binary data"),
        ("binary.csv", b"\x00\x01\x02\x03" * 100, "binary data"),
        ("list.ipynb", b"[1, 2, 3]", "not a notebook"),
        ("deep.ipynb", b"[" * 100_000, "not a notebook"),
        ("settings.yml", b"a: 1\nb: 2\n", "YAML without questions"),
        ("code.yml", b"!!python/object/apply:os.system ['echo']", "YAML without questions"),
        ("words.vtt", b"WEBVTT\n\nno cue here\n", "no timed cue"),
    ],
)
def test_the_reason_is_named(name: str, data: bytes, reason: str) -> None:
    answer = read(name, data)
    assert answer.startswith("reason: ")
    assert reason in answer


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("line.txt", b"word " * 400_000),
        ("line.md", b"x" * 2_000_000),
        ("quotes.md", b">" * 20_000 + b" deep\n"),
        ("lists.md", b"".join(b" " * n + b"- a\n" for n in range(400))),
        ("brackets.md", b"[" * 50_000 + b"words"),
        ("stars.md", b"*a **b " * 10_000),
        ("deep.html", b"<div>" * 20_000 + b"words" + b"</div>" * 20_000),
        ("tables.html", b"<table><tr><td>" * 300 + b"words"),
        ("span.html", b"<table><tr><td colspan=99999999 rowspan=99999999>words</td></tr></table>"),
        ("unclosed.mdx", b"<Tabs>\n" * 5000 + b"words\n"),
        ("rules.rst", b"words\n=====\n" * 5000),
    ],
)
def test_text_that_is_only_strange_is_read_within_its_limits(name: str, data: bytes) -> None:
    with ParserProcess(ParseLimits(seconds=60.0)) as parser:
        try:
            documents = parser.parse(RawContent(name, "", data)).documents
        except UnreadableError as error:
            assert "nested too deeply" in str(error) or "ended" in str(error)  # noqa: PT017
        else:
            assert any(document.text for document in documents)


@pytest.fixture
def parser() -> Iterator[ParserProcess]:
    with ParserProcess(ParseLimits(seconds=30.0, memory_bytes=1_500_000_000)) as process:
        yield process


def test_a_parser_that_dies_costs_its_document_only(parser: ParserProcess) -> None:
    good = RawContent("a.md", "", b"# Title\n\nA fact.\n")
    assert parser.parse(good).documents[0].title == "Title"
    os.kill(parser.process_id, signal.SIGKILL)
    try:
        parser.parse(good)
    except UnreadableError as error:
        assert "ended" in str(error)  # noqa: PT017
    assert parser.parse(good).documents[0].title == "Title"


def test_a_parser_over_its_deadline_is_ended() -> None:
    good = RawContent("a.md", "", b"# Title\n\nA fact.\n")
    with ParserProcess(ParseLimits(seconds=3.0)) as parser:
        parser.parse(good)
        os.kill(parser.process_id, signal.SIGSTOP)
        with pytest.raises(UnreadableError, match="ended after 3 s"):
            parser.parse(good)
        assert parser.parse(good).documents[0].title == "Title"


def test_a_parser_over_its_memory_is_ended() -> None:
    limits = ParseLimits(seconds=60.0, memory_bytes=400_000_000)
    with ParserProcess(limits) as small:
        with pytest.raises(UnreadableError, match="memory"):
            small.parse(RawContent("big.txt", "", b"word. " * 30_000_000))
        assert small.parse(RawContent("a.md", "", b"A fact.")).documents
