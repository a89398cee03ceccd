"""Plain text: paragraphs at blank lines, nothing else assumed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingestion.decoding import decode
from ingestion.document import Block, Parsed, ParsedDocument, RawContent
from ingestion.parsers.lines import trim
from ingestion.parsers.markdown import name_of

_BLANK = re.compile(r"\n[ \t]*\n")
_SENTENCE_END = re.compile(r"[.!?:。]['\")\]]?$")
_FULL_LINE_SHARE = 0.75


class PlainTextParser:
    """Reads text without markup."""

    media_types = ("text/plain",)

    def parse(self, content: RawContent) -> Parsed:
        """Return the file as one document with a block per paragraph."""
        text = decode(content.data)
        document = ParsedDocument(
            document_id=content.document_id,
            title=name_of(content.document_id),
            url=content.url,
            text=text,
            blocks=plain_blocks(text),
            updated_at=content.updated_at,
        )
        return Parsed(documents=(document,))


def plain_blocks(text: str) -> tuple[Block, ...]:
    """Return one text block per paragraph."""
    blocks: list[Block] = []
    start = 0
    for gap in [*_BLANK.finditer(text), None]:
        end = gap.start() if gap else len(text)
        head, tail = trim(text, start, end)
        if tail > head:
            blocks.append(Block("text", head, tail))
        start = gap.end() if gap else end
    return tuple(blocks)


def reflow(page: str) -> Iterator[str]:
    """Yield the paragraphs of a page whose lines were broken at its width.

    A paragraph ends at a blank line, and after a line that ends a sentence well before the edge.
    """
    lines = page.split("\n")
    width = max((len(line) for line in lines), default=0)
    held: list[str] = []
    for line in lines:
        if line.strip():
            held.append(line)
        is_short = len(line) < _FULL_LINE_SHARE * width and _SENTENCE_END.search(line)
        if held and (not line.strip() or is_short):
            yield "\n".join(held)
            held = []
    if held:
        yield "\n".join(held)
