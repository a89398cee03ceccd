"""Which parser reads what."""

from __future__ import annotations

from typing import Protocol

from ingestion.document import Parsed, RawContent
from ingestion.errors import UnreadableError
from ingestion.parsers.asciidoc import AsciiDocParser
from ingestion.parsers.faq import FaqParser
from ingestion.parsers.feed import FeedParser
from ingestion.parsers.html import HtmlParser
from ingestion.parsers.llms_full import LlmsFullParser
from ingestion.parsers.markdown import MarkdownParser
from ingestion.parsers.notebook import NotebookParser
from ingestion.parsers.plain import PlainTextParser
from ingestion.parsers.rest import RestParser
from ingestion.parsers.sniffing import DOCX, PDF, PPTX, XLSX, sniff
from ingestion.parsers.source_code import SourceCodeParser
from ingestion.parsers.tabular import CsvParser
from ingestion.parsers.transcript import DialogueParser, TranscriptParser


class Parser(Protocol):
    """Turns the bytes of one file into documents."""

    @property
    def media_types(self) -> tuple[str, ...]:
        """What it reads, as ``sniff`` names it."""
        ...

    def parse(self, content: RawContent) -> Parsed:
        """Return the documents of a file.

        Raises:
            UnreadableError: The file cannot be read; the message is the reason.
        """
        ...


_PARSERS: tuple[Parser, ...] = (
    MarkdownParser(),
    LlmsFullParser(),
    HtmlParser(),
    RestParser(),
    AsciiDocParser(),
    PlainTextParser(),
    CsvParser(),
    NotebookParser(),
    FaqParser(),
    FeedParser(),
    TranscriptParser(),
    DialogueParser(),
    SourceCodeParser(),
)
_BY_TYPE: dict[str, Parser] = {name: parser for parser in _PARSERS for name in parser.media_types}


def parse(content: RawContent) -> Parsed:
    """Read a file with the parser its content asks for.

    Raises:
        UnreadableError: No parser reads it, it is empty, or it is broken.
    """
    media_type = sniff(content)
    parser = _BY_TYPE.get(media_type) or _heavy(media_type)
    if parser is None:
        raise UnreadableError(f"no parser reads {media_type or 'this kind of file'}")
    parsed = parser.parse(content)
    if not any(
        block.kind != "heading" or block.end > block.start
        for document in parsed.documents
        for block in document.blocks
    ):
        raise UnreadableError("no text in it")
    return Parsed(
        parsed.documents, {kind: count for kind, count in parsed.dropped.items() if count}
    )


def _heavy(media_type: str) -> Parser | None:
    """Return a parser whose library takes a good part of a second to import."""
    if media_type == PDF:
        from ingestion.parsers.pdf import PdfParser  # noqa: PLC0415 - see above

        return PdfParser()
    if media_type == XLSX:
        from ingestion.parsers.spreadsheet import SpreadsheetParser  # noqa: PLC0415 - see above

        return SpreadsheetParser()
    if media_type in {DOCX, PPTX}:
        from ingestion.parsers.office import SlidesParser, WordParser  # noqa: PLC0415 - see above

        return WordParser() if media_type == DOCX else SlidesParser()
    return None
