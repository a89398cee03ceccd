"""reST as it looks once rendered to text: underlined headings, definitions, indented code.

This is the form in which Python ships its language reference. A definition (a signature on a line
of its own, its description indented below) becomes a section, because that is what people ask for
by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ingestion.document import Block

_UNDERLINE = re.compile(r"^([*=\-~^\"'+#`:.])\1{2,}\s*$")
_SIGNATURE = re.compile(
    r"^(?:class |exception |async |static |classmethod )?[A-Za-z_][\w.]*(?:\(.*\))?$"
)
DEFINITION_LEVEL = 7
_MOST_NAMES = 4
_PARAGRAPH_BREAK = re.compile(r"\n[ \t]*\n")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A run of lines without a blank one: its span, lines and least indentation."""

    start: int
    end: int
    lines: tuple[str, ...]

    @property
    def indent(self) -> int:
        """Columns before the least indented line."""
        return min(len(line) - len(line.lstrip()) for line in self.lines)


@dataclass
class UnderlinedReader:
    """Splits one text into blocks.

    Attributes:
        anchor_of: Builds the anchor of a section from its title.
    """

    text: str
    levels: list[str] = field(default_factory=list[str])
    body_indent: int = 0
    expects_code: bool = False

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks in order."""
        found = list(paragraphs(self.text))
        for at, paragraph in enumerate(found):
            following = found[at + 1] if at + 1 < len(found) else None
            yield from self._read(paragraph, following)

    def _read(self, paragraph: Paragraph, following: Paragraph | None) -> Iterator[Block]:
        if self._is_heading(paragraph):
            yield self._heading(paragraph)
            return
        if self._is_definition(paragraph, following):
            self.body_indent = paragraph.indent + 3
            yield self._definition(paragraph)
            yield Block("text", paragraph.start, paragraph.end)
            return
        if paragraph.indent < self.body_indent:
            self.body_indent = 0 if paragraph.indent == 0 else paragraph.indent
        is_code = paragraph.indent > self.body_indent and self._looks_like_code(paragraph)
        self.expects_code = is_code or paragraph.lines[-1].rstrip().endswith(":")
        yield Block("code" if is_code else "text", paragraph.start, paragraph.end)

    def _is_heading(self, paragraph: Paragraph) -> bool:
        lines = paragraph.lines
        return (
            len(lines) == 2  # noqa: PLR2004 - a title and its underline
            and paragraph.indent == 0
            and _UNDERLINE.match(lines[1]) is not None
            and len(lines[1].rstrip()) >= len(lines[0].rstrip())
        )

    def _heading(self, paragraph: Paragraph) -> Block:
        mark = paragraph.lines[1][0]
        if mark not in self.levels:
            self.levels.append(mark)
        self.body_indent = 0
        self.expects_code = False
        words = paragraph.lines[0].strip()
        level = self.levels.index(mark) + 1
        return Block("heading", paragraph.start, paragraph.end, level, words)

    def _is_definition(self, paragraph: Paragraph, following: Paragraph | None) -> bool:
        if self.expects_code and paragraph.indent > 0:
            return False
        return (
            following is not None
            and following.indent == paragraph.indent + 3
            and paragraph.indent in (0, self.body_indent)
            and all(_SIGNATURE.match(line.strip()) for line in paragraph.lines)
            and any("." in line or "(" in line or "_" in line for line in paragraph.lines)
        )

    def _definition(self, paragraph: Paragraph) -> Block:
        """Return an empty heading: the signature itself stays in the text that is shown."""
        names = [_name(line) for line in paragraph.lines]
        words = paragraph.lines[0].strip() if len(names) == 1 else ", ".join(names[:_MOST_NAMES])
        level = DEFINITION_LEVEL + paragraph.indent // 3
        return Block("heading", paragraph.start, paragraph.start, level, words, names[0])

    def _looks_like_code(self, paragraph: Paragraph) -> bool:
        first = paragraph.lines[0].lstrip()
        return (
            self.expects_code
            or first.startswith((">>>", "..."))
            or any("::=" in line for line in paragraph.lines)
        ) and not first.startswith(("* ", "- "))


def _name(signature: str) -> str:
    return signature.strip().partition("(")[0].rpartition(" ")[2]


def paragraphs(text: str) -> Iterator[Paragraph]:
    """Yield the runs of lines between blank lines."""
    start = 0
    for gap in [*_PARAGRAPH_BREAK.finditer(text), None]:
        end = gap.start() if gap else len(text)
        piece = text[start:end]
        stripped = piece.strip("\n").rstrip()
        if stripped.strip():
            head = start + len(piece) - len(piece.lstrip("\n"))
            yield Paragraph(head, head + len(stripped), tuple(stripped.split("\n")))
        start = gap.end() if gap else end
