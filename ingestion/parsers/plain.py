"""Plain text: paragraphs at blank lines, nothing else assumed."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from ingestion.decoding import decode
from ingestion.document import Block, Parsed, ParsedDocument, RawContent
from ingestion.parsers.lines import trim

_BLANK = re.compile(r"\n[ \t]*\n")


class PlainTextParser:
    """Reads text without markup."""

    media_types = ("text/plain",)

    def parse(self, content: RawContent) -> Parsed:
        """Return the file as one document with a block per paragraph."""
        text = decode(content.data)
        document = ParsedDocument(
            document_id=content.document_id,
            title=PurePosixPath(content.document_id).stem.replace("-", " ").replace("_", " "),
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
