"""Markdown: CommonMark with tables, read by a kept parser for its line numbers only.

The text is never rewritten: a block is the span of lines it stands on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ingestion.decoding import decode
from ingestion.document import Block, Parsed, ParsedDocument, RawContent
from ingestion.parsers.front_matter import read_front_matter
from ingestion.parsers.lines import LineIndex, trim
from ingestion.slugs import SlugCounter

_LEAVES = {"paragraph_open", "html_block", "hr"}
_CODE = {"fence", "code_block"}
_EXPLICIT_ANCHOR = re.compile(r"\s*\{#([\w.:-]+)\}\s*$|\s*\{/\*\s*([\w.:-]+)\s*\*/\}\s*$")


class MarkdownParser:
    """Reads Markdown files, with or without front matter."""

    media_types = ("text/markdown",)

    def parse(self, content: RawContent) -> Parsed:
        """Return the page as one document."""
        text = decode(content.data)
        front = read_front_matter(text)
        document = parse_page(
            text,
            document_id=content.document_id,
            url=front.url or content.url,
            start=front.end,
            title=front.title,
        )
        document = replace(
            document,
            updated_at=front.updated_at or content.updated_at,
            language=front.language,
        )
        dropped = {"front_matter": front.count} if front.count else {}
        return Parsed(documents=(document,), dropped=dropped)


def parse_page(
    text: str, *, document_id: str, url: str, start: int = 0, title: str = ""
) -> ParsedDocument:
    """Return one Markdown page.

    Args:
        text: The whole text; offsets refer to it.
        document_id: Name of the page within its source.
        url: Address of the page.
        start: Where the page's own text begins, after front matter.
        title: Title when already known, else the first heading of level 1, else the name.
    """
    blocks = markdown_blocks(text, start)
    first = next((b.heading for b in blocks if b.kind == "heading" and b.level == 1), "")
    return ParsedDocument(
        document_id=document_id,
        title=title or first or PurePosixPath(document_id).stem.replace("-", " "),
        url=url,
        text=text,
        blocks=blocks,
    )


def markdown_blocks(text: str, start: int = 0) -> tuple[Block, ...]:
    """Return the leaf blocks of a Markdown text from an offset on, in order."""
    body = text[start:]
    tokens = MarkdownIt("commonmark").enable("table").parse(body)
    return _Walk(text, LineIndex(body, start), SlugCounter()).blocks(tokens)


@dataclass
class _Walk:
    text: str
    lines: LineIndex
    slugs: SlugCounter

    def blocks(self, tokens: Sequence[Token]) -> tuple[Block, ...]:
        found: list[Block] = []
        inside_table = False
        for at, token in enumerate(tokens):
            if token.type == "table_close":
                inside_table = False
            if token.map is None or inside_table:
                continue
            if token.type == "table_open":
                inside_table = True
            block = self._block(token, tokens, at)
            if block is not None and block.end > block.start:
                found.append(block)
        return tuple(_disjoint(found))

    def _block(self, token: Token, tokens: Sequence[Token], at: int) -> Block | None:
        first, last = token.map or (0, 0)
        start, end = trim(self.text, self.lines.start(first), self.lines.start(last))
        if token.type == "heading_open":
            return self._heading(token, tokens[at + 1].content, start, end)
        if token.type in _CODE:
            return Block("code", start, end)
        if token.type == "table_open":
            return Block("table", start, end, header_end=min(end, self.lines.start(first + 2)))
        if token.type in _LEAVES:
            return Block("text", start, end)
        return None

    def _heading(self, token: Token, content: str, start: int, end: int) -> Block:
        if token.level > 0:  # a heading inside a quote or a list opens no section of the page
            return Block("text", start, end)
        explicit = _EXPLICIT_ANCHOR.search(content)
        words = plain_heading(_EXPLICIT_ANCHOR.sub("", content))
        anchor = (explicit[1] or explicit[2]) if explicit else self.slugs.slug(words)
        return Block("heading", start, end, int(token.tag[1:]), words, anchor)


_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_MARKUP = re.compile(r"[*`]|<[^>]+>|(?<!\w)_|_(?!\w)")


def plain_heading(content: str) -> str:
    """Return a heading's words without links, emphasis and tags."""
    return " ".join(_MARKUP.sub("", _LINK.sub(r"\1", content)).split())


def _disjoint(blocks: list[Block]) -> list[Block]:
    """Cut a block where the next begins: a list item and its nested list share lines."""
    result: list[Block] = []
    for block in blocks:
        if result and block.start < result[-1].end:
            if block.end <= result[-1].end:
                continue
            block = replace(block, start=result[-1].end)  # noqa: PLW2901 - the cut block goes on
        result.append(block)
    return result
