"""AsciiDoc sources: sections, delimited blocks and tables as spans of the text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from ingestion.decoding import decode
from ingestion.document import Block, Parsed, ParsedDocument, RawContent
from ingestion.parsers.lines import LineIndex, trim
from ingestion.parsers.markdown import name_of

_HEADING = re.compile(r"^(={1,6}|#{1,6})[ \t]+(\S.*)$")
_ATTRIBUTE = re.compile(r"^:([\w!-]+):(?:[ \t]+(.*))?$")
_REFERENCE = re.compile(r"\{([\w-]+)\}")
_CODE = re.compile(r"^(?:-{4,}|\.{4,}|`{3,}.*)$")
_TABLE = re.compile(r"^[|,:!]={3,}$")
_COMMENT_BLOCK = re.compile(r"^/{4,}$")
_QUIET = re.compile(
    r"^(?:\[\[?.*\]\]?|include::.*|ifn?def::.*|ifeval::.*|endif::.*|image::.*|toc::.*)$"
)
_ANCHOR = re.compile(r"^\[(?:\[|#)([\w:.-]+)[\],.%]")
_NOT_IDENTIFIER = re.compile(r"[^\w]+")


class AsciiDocParser:
    """Reads AsciiDoc as its author wrote it."""

    media_types = ("text/asciidoc",)

    def parse(self, content: RawContent) -> Parsed:
        """Return the file as one document."""
        text = decode(content.data)
        reader = _Reader(text)
        blocks = tuple(reader.blocks())
        headings = (block.heading for block in blocks if block.kind == "heading")
        document = ParsedDocument(
            document_id=content.document_id,
            title=next(headings, "") or name_of(content.document_id),
            url=content.url,
            text=text,
            blocks=blocks,
            updated_at=content.updated_at,
        )
        return Parsed(documents=(document,), dropped=dict(reader.dropped))


@dataclass
class _Reader:
    text: str
    dropped: Counter[str] = field(default_factory=Counter[str])
    attributes: dict[str, str] = field(default_factory=dict[str, str])
    anchor: str = ""

    def blocks(self) -> Iterator[Block]:
        lines = self.text.split("\n")
        index = LineIndex(self.text)
        at = 0
        while at < len(lines):
            end, block = self._next(lines, index, at)
            if block is not None and block.end > block.start:
                yield block
            at = end

    def _next(self, lines: list[str], index: LineIndex, at: int) -> tuple[int, Block | None]:
        line = lines[at].rstrip()
        if not line:
            return at + 1, None
        heading = _HEADING.match(line)
        if heading:
            return at + 1, self._heading(heading, index.start(at), index.start(at) + len(line))
        for pattern, kind in ((_CODE, "code"), (_TABLE, "table"), (_COMMENT_BLOCK, "comment")):
            if pattern.match(line):
                return self._delimited(lines, index, at, kind)
        if self._is_quiet(line):
            return at + 1, None
        return self._paragraph(lines, index, at)

    def _is_quiet(self, line: str) -> bool:
        """Take in a line that is not text: attribute, anchor, comment, include."""
        attribute = _ATTRIBUTE.match(line)
        if attribute:
            self.attributes[attribute[1]] = attribute[2] or ""
            self.dropped["attribute"] += 1
        elif line.startswith("//"):
            self.dropped["comment"] += 1
        elif _QUIET.match(line):
            anchor = _ANCHOR.match(line)
            self.anchor = anchor[1] if anchor else self.anchor
            self.dropped[line.partition("::")[0] if "::" in line else "block_attribute"] += 1
        else:
            return False
        return True

    def _heading(self, match: re.Match[str], start: int, end: int) -> Block:
        words = _REFERENCE.sub(lambda m: self.attributes.get(m[1], m[0]), match[2]).strip()
        anchor = self.anchor or "_" + _NOT_IDENTIFIER.sub("_", words.lower()).strip("_")
        self.anchor = ""
        return Block("heading", start, end, len(match[1]), words, anchor)

    def _delimited(
        self, lines: list[str], index: LineIndex, at: int, kind: str
    ) -> tuple[int, Block | None]:
        mark = lines[at].rstrip()
        closing = "```" if mark.startswith("```") else mark
        last = at + 1
        while last < len(lines) and lines[last].rstrip() != closing:
            last += 1
        start, end = trim(self.text, index.start(at), index.start(last + 1))
        if kind == "comment":
            self.dropped["comment"] += 1
            return last + 1, None
        if kind == "code":
            return last + 1, Block("code", start, end)
        return last + 1, Block("table", start, end, header_end=_header(self.text, start, end))

    def _paragraph(self, lines: list[str], index: LineIndex, at: int) -> tuple[int, Block]:
        last = at + 1
        while last < len(lines) and lines[last].strip() and not _starts_block(lines[last].rstrip()):
            last += 1
        start, end = trim(self.text, index.start(at), index.start(last))
        return last, Block("text", start, end)


def _starts_block(line: str) -> bool:
    return any(pattern.match(line) for pattern in (_HEADING, _CODE, _TABLE, _COMMENT_BLOCK, _QUIET))


def _header(text: str, start: int, end: int) -> int:
    """Return where a table's header row ends: it is set off by a blank line."""
    first = text.find("\n", start, end) + 1
    blank = text.find("\n\n", first, end)
    return blank + 1 if first and blank > 0 and text[first:blank].strip() else start
