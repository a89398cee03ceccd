"""Putting a document together for formats whose bytes are not text.

The extracted text and its blocks grow together, so that each block is a span of the text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ingestion.document import Block, Parsed, ParsedDocument, RawContent
from ingestion.parsers.markdown import markdown_blocks, name_of
from retrieval.chunk import JsonScalar


class DocumentBuilder:
    """Collects headings, paragraphs, code and tables.

    Attributes:
        dropped: What was left out, by kind.
        facts: Values given to every block from now on, such as the page.
        anchor: Fragment given to every block from now on.
    """

    def __init__(self) -> None:
        self.dropped: Counter[str] = Counter()
        self.facts: Mapping[str, JsonScalar] = {}
        self.anchor = ""
        self._parts: list[str] = []
        self._blocks: list[Block] = []
        self._length = 0

    @property
    def has_text(self) -> bool:
        """Whether anything but headings came together."""
        return any(block.kind != "heading" for block in self._blocks)

    def heading(self, level: int, words: str, anchor: str = "", *, is_shown: bool = True) -> None:
        """Begin a section.

        Args:
            level: From 1.
            words: Empty words begin nothing.
            anchor: Fragment of the address; empty takes the builder's.
            is_shown: Whether the words stand in the text, or only name the section.
        """
        plain = " ".join(words.split())
        if plain:
            start, end = self._append(plain if is_shown else "")
            at = anchor or self.anchor
            self._blocks.append(Block("heading", start, end, level, plain, at, facts=self.facts))

    def text(self, words: str) -> None:
        """Add a paragraph; blank ones add nothing."""
        if words.strip():
            self._block("text", words.strip("\n").rstrip())

    def code(self, lines: str) -> None:
        """Add a code block, its indentation kept."""
        if lines.strip():
            self._block("code", lines.strip("\n").rstrip())

    def table(self, rows: Sequence[Sequence[str]], *, has_header: bool = True) -> None:
        """Add a table as lines of cells; empty rows and columns are left out."""
        filled = [row for row in rows if any(cell.strip() for cell in row)]
        if not filled:
            return
        width = max(len(row) for row in filled)
        columns = [
            at for at in range(width) if any(at < len(row) and row[at].strip() for row in filled)
        ]
        lines = [_line(row, columns) for row in filled]
        header_end = 0
        if has_header and len(lines) > 1:
            lines.insert(1, "|" + " --- |" * len(columns))
            header_end = len(lines[0]) + len(lines[1]) + 2
        self._block("table", "\n".join(lines), header_end)

    def markdown(self, text: str) -> None:
        """Add a piece of Markdown with its own blocks."""
        piece = text.strip("\n").rstrip()
        if not piece:
            return
        start, _ = self._append(piece)
        for block in markdown_blocks(piece):
            self._blocks.append(
                replace(
                    block,
                    start=block.start + start,
                    end=block.end + start,
                    header_end=block.header_end + start,
                    facts=self.facts,
                    anchor=block.anchor or self.anchor,
                )
            )

    def document(
        self, content: RawContent, *, title: str = "", url: str = "", language: str = ""
    ) -> ParsedDocument:
        """Return what came together."""
        first = next((b.heading for b in self._blocks if b.kind == "heading"), "")
        return ParsedDocument(
            document_id=content.document_id,
            title=" ".join(title.split()) or first or name_of(content.document_id),
            url=url or content.url,
            text="".join(self._parts),
            blocks=tuple(self._blocks),
            language=language,
            updated_at=content.updated_at,
        )

    def parsed(self, content: RawContent, *, title: str = "", language: str = "") -> Parsed:
        """Return what came together as the only document of a file."""
        document = self.document(content, title=title, language=language)
        return Parsed(documents=(document,), dropped=dict(self.dropped))

    def _append(self, piece: str) -> tuple[int, int]:
        start = self._length
        if piece:
            self._parts.append(piece + "\n\n")
            self._length += len(piece) + 2
        return start, start + len(piece)

    def _block(self, kind: str, piece: str, header_characters: int = 0) -> None:
        start, end = self._append(piece)
        made = Block("text", start, end, anchor=self.anchor, facts=self.facts)
        if kind == "table":
            made = replace(made, kind="table", header_end=start + header_characters)
        elif kind == "code":
            made = replace(made, kind="code")
        self._blocks.append(made)


def _line(row: Sequence[str], columns: Sequence[int]) -> str:
    cells = [
        " ".join(row[at].split()).replace("|", "\\|") if at < len(row) else "" for at in columns
    ]
    return "| " + " | ".join(cells) + " |"
