"""reST sources: sections, directives, definitions and literal blocks as spans of the text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from ingestion.decoding import decode
from ingestion.document import Block, Parsed, ParsedDocument, RawContent
from ingestion.parsers.markdown import first_title, name_of
from ingestion.parsers.underlined import DEFINITION_LEVEL, Paragraph, paragraphs
from ingestion.slugs import docutils_id

_MARK = re.compile(r"^([!-/:-@\[-`{-~])\1{2,}\s*$")
_DIRECTIVE = re.compile(r"^\s*\.\. (?P<name>[\w:+.-]+)::[ \t]*(?P<argument>.*)$")
_COMMENT = re.compile(r"^\s*\.\.(?:\s|$)")
_TARGET = re.compile(r"^\s*\.\. _(?P<name>[^:]+):\s*$")
_OPTION = re.compile(r"^\s*:[\w-]+:")
_TABLE = re.compile(r"^\s*(?:\+[-=+]{3,}|={2,}(?: +={2,})+\s*$)")
_CODE = frozenset(
    {"code", "code-block", "sourcecode", "literalinclude", "parsed-literal", "doctest", "prompt"}
)
_SILENT = frozenset(
    {"toctree", "index", "image", "figure", "include", "module", "currentmodule", "contents",
     "highlight", "meta", "raw", "only", "automodule", "autoclass", "autofunction", "testsetup"}
)  # fmt: skip
_TITLED_LINES = 2
_OVERLINED_LINES = 3


class RestParser:
    """Reads reStructuredText as its author wrote it."""

    media_types = ("text/x-rst",)

    def parse(self, content: RawContent) -> Parsed:
        """Return the file as one document."""
        text = decode(content.data)
        reader = _Reader(text)
        blocks = tuple(reader.blocks())
        document = ParsedDocument(
            document_id=content.document_id,
            title=first_title(blocks) or name_of(content.document_id),
            url=content.url,
            text=text,
            blocks=blocks,
            updated_at=content.updated_at,
        )
        return Parsed(documents=(document,), dropped=dict(reader.dropped))


@dataclass
class _Reader:
    """Reads paragraph by paragraph.

    Attributes:
        code_indent: Paragraphs indented more than this are code; None outside code.
        silent_indent: Paragraphs indented more than this belong to a directive without text.
    """

    text: str
    dropped: Counter[str] = field(default_factory=Counter[str])
    marks: list[str] = field(default_factory=list[str])
    code_indent: int | None = None
    silent_indent: int | None = None
    anchor: str = ""

    def blocks(self) -> Iterator[Block]:
        for paragraph in paragraphs(self.text):
            if self._continues(paragraph):
                if self.silent_indent is None:
                    yield Block("code", paragraph.start, paragraph.end)
                continue
            self.code_indent = self.silent_indent = None
            yield from self._fresh(paragraph)

    def _continues(self, paragraph: Paragraph) -> bool:
        indent = self.code_indent if self.code_indent is not None else self.silent_indent
        return indent is not None and paragraph.indent > indent

    def _fresh(self, paragraph: Paragraph) -> Iterator[Block]:
        heading = self._heading(paragraph)
        if heading:
            yield heading
            return
        first = paragraph.lines[0]
        target = _TARGET.match(first)
        directive = _DIRECTIVE.match(first)
        if target:
            self.anchor = docutils_id(target["name"])
            self.dropped["target"] += 1
        elif directive:
            yield from self._directive(paragraph, directive["name"], directive["argument"])
        elif _COMMENT.match(first):
            self.silent_indent = _indent(first)
            self.dropped["comment"] += 1
        else:
            yield self._body(paragraph)

    def _body(self, paragraph: Paragraph) -> Block:
        if paragraph.lines[-1].rstrip().endswith("::"):
            self.code_indent = paragraph.indent
        if _TABLE.match(paragraph.lines[0]):
            return Block(
                "table", paragraph.start, paragraph.end, header_end=self._header(paragraph)
            )
        return Block("text", paragraph.start, paragraph.end)

    def _header(self, paragraph: Paragraph) -> int:
        """Return where a table's header ends: at the first ``=`` rule after the top."""
        at = paragraph.start
        for number, line in enumerate(paragraph.lines):
            at += len(line) + 1
            if number and set(line.strip()) <= set("=+ "):
                return min(at, paragraph.end)
        return paragraph.start

    def _heading(self, paragraph: Paragraph) -> Block | None:
        lines = paragraph.lines
        is_over = len(lines) == _OVERLINED_LINES and _MARK.match(lines[0]) and _MARK.match(lines[2])
        is_under = (
            len(lines) == _TITLED_LINES and not lines[0].startswith(" ") and _MARK.match(lines[1])
        )
        if not (is_over or is_under):
            return None
        mark = lines[-1][0] * (2 if is_over else 1)
        if mark not in self.marks:
            self.marks.append(mark)
        words = lines[1 if is_over else 0].strip()
        anchor, self.anchor = self.anchor or docutils_id(words), ""
        level = self.marks.index(mark) + 1
        return Block("heading", paragraph.start, paragraph.end, level, words, anchor)

    def _directive(self, paragraph: Paragraph, name: str, argument: str) -> Iterator[Block]:
        indent = _indent(paragraph.lines[0])
        if name in _CODE:
            self.code_indent = indent
            yield from self._rest(paragraph, "code")
        elif name in _SILENT:
            self.silent_indent = indent
            self.dropped[name] += 1
        elif ":" in name and argument:
            start = paragraph.start
            level = DEFINITION_LEVEL + indent // 3
            words = argument.strip()
            yield Block("heading", start, start, level, words, words.partition("(")[0])
            yield Block("text", paragraph.start, paragraph.end)
        else:
            yield Block("text", paragraph.start, paragraph.end)

    def _rest(self, paragraph: Paragraph, kind: str) -> Iterator[Block]:
        """Yield the code that stands in the directive's own paragraph, after its options."""
        at = paragraph.start + len(paragraph.lines[0]) + 1
        for line in paragraph.lines[1:]:
            if not _OPTION.match(line):
                break
            at += len(line) + 1
        if at < paragraph.end:
            yield Block("code" if kind == "code" else "text", at, paragraph.end)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
