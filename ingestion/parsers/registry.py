"""Which parser reads what: by content first, by name where content does not tell."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Protocol

from ingestion.decoding import decode
from ingestion.document import Parsed, RawContent
from ingestion.errors import UnreadableError
from ingestion.parsers.llms_full import LlmsFullParser, is_llms_full
from ingestion.parsers.markdown import MarkdownParser
from ingestion.parsers.plain import PlainTextParser

_BY_SUFFIX = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".txt": "text/plain",
}
SUFFIXES = frozenset(_BY_SUFFIX)
"""Names a folder is searched for."""


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


_PARSERS: tuple[Parser, ...] = (MarkdownParser(), LlmsFullParser(), PlainTextParser())
_BY_TYPE: dict[str, Parser] = {name: parser for parser in _PARSERS for name in parser.media_types}


def sniff(content: RawContent) -> str:
    """Return the media type of some bytes; empty when no parser reads them."""
    if not content.data.strip():
        raise UnreadableError("empty file")
    suffix = PurePosixPath(content.document_id.partition("?")[0]).suffix.lower()
    by_name = _BY_SUFFIX.get(suffix) or content.media_type.partition(";")[0].strip().lower()
    if by_name in {"text/plain", "text/markdown"} and is_llms_full(decode(content.data)):
        return "text/x-llms-full"
    return by_name


def parse(content: RawContent) -> Parsed:
    """Read a file with the parser its content asks for.

    Raises:
        UnreadableError: No parser reads it, it is empty, or it is broken.
    """
    media_type = sniff(content)
    parser = _BY_TYPE.get(media_type)
    if parser is None:
        raise UnreadableError(f"no parser reads {media_type or 'this kind of file'}")
    parsed = parser.parse(content)
    if not any(document.blocks for document in parsed.documents):
        raise UnreadableError("no text in it")
    return parsed
