"""Markdown: CommonMark with tables, read by a kept parser for its line numbers only.

The text is never rewritten: a block is the span of lines it stands on.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ingestion.decoding import decode
from ingestion.document import Block, Parsed, ParsedDocument, RawContent
from ingestion.parsers.components import view_of
from ingestion.parsers.front_matter import read_front_matter
from ingestion.parsers.lines import LineIndex, trim
from ingestion.parsers.nesting import nest_components
from ingestion.slugs import SlugCounter

_LEAVES = {"paragraph_open", "html_block"}
_CODE = {"fence", "code_block"}
_DEEPEST = 16  # of the twenty levels that the Markdown parser follows
_EXPLICIT_ANCHOR = re.compile(r"\s*\{#([\w.:-]+)\}\s*$|\s*\{/\*\s*([\w.:-]+)\s*\*/\}\s*$")


class MarkdownParser:
    """Reads Markdown and MDX files, with or without front matter."""

    media_types = ("text/markdown", "text/mdx")

    def parse(self, content: RawContent) -> Parsed:
        """Return the page as one document."""
        text = decode(content.data)
        front = read_front_matter(text)
        blocks, dropped = read_blocks(text, front.end)
        if front.count:
            dropped["front_matter"] = front.count
        document = ParsedDocument(
            document_id=content.document_id,
            title=front.title or first_title(blocks) or name_of(content.document_id),
            url=front.url or content.url,
            text=text,
            blocks=blocks,
            updated_at=front.updated_at or content.updated_at,
            language=front.language,
        )
        return Parsed(documents=(document,), dropped=dict(dropped))


def first_title(blocks: Sequence[Block]) -> str:
    """Return the first heading of level 1, empty without one."""
    return next((b.heading for b in blocks if b.kind == "heading" and b.level == 1), "")


def name_of(document_id: str) -> str:
    """Return a title made of a file's name, for documents that have none."""
    name = PurePosixPath(document_id.partition("?")[0])
    return (name.stem or name.name or document_id).replace("-", " ").replace("_", " ")


def markdown_blocks(text: str, start: int = 0) -> tuple[Block, ...]:
    """Return the leaf blocks of a Markdown text from an offset on, in order."""
    return read_blocks(text, start)[0]


def read_blocks(text: str, start: int = 0) -> tuple[tuple[Block, ...], Counter[str]]:
    """Return the blocks, and the component lines and comments left out, by kind."""
    body = text[start:]
    view = view_of(body)
    lines = LineIndex(body, start)
    tokens = MarkdownIt("commonmark").enable("table").parse("\n".join(view.lines))
    walk = _Walk(text, lines, SlugCounter(), view.dropped)
    blocks = nest_components(walk.blocks(tokens), view, lines)
    return blocks, view.dropped


@dataclass
class _Walk:
    text: str
    lines: LineIndex
    slugs: SlugCounter
    dropped: Counter[str]

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
        if token.type.endswith("_open") and token.level >= _DEEPEST:
            return Block("text", start, end)  # the Markdown parser reads no deeper
        if token.type == "html_block" and self._is_comment(start, end):
            self.dropped["comment"] += 1
            return None
        return Block("text", start, end) if token.type in _LEAVES else None

    def _is_comment(self, start: int, end: int) -> bool:
        html = self.text[start:end].strip()
        return html.startswith("<!--") and html.endswith("-->")

    def _heading(self, token: Token, content: str, start: int, end: int) -> Block:
        if token.level > 0:  # a heading inside a quote or a list opens no section of the page
            return Block("text", start, end)
        explicit = _EXPLICIT_ANCHOR.search(content)
        words = plain_heading(_EXPLICIT_ANCHOR.sub("", content))
        anchor = (explicit[1] or explicit[2]) if explicit else self.slugs.slug(words)
        return Block("heading", start, end, int(token.tag[1:]), words, anchor)


_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_MARKUP = re.compile(r"`+([^`]*)`+|<[^>]+>|\*+|(?<!\w)_|_(?!\w)")


def plain_heading(content: str) -> str:
    """Return a heading's words without links, emphasis and tags; tags in code are words."""
    without_links = _LINK.sub(r"\1", content)
    return " ".join(_MARKUP.sub(lambda match: match[1] or "", without_links).split())


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
