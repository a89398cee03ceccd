"""Blocks to sections: a heading, where it stands under its parents, and what follows it."""

from __future__ import annotations

from dataclasses import dataclass

from ingestion.document import Block, ParsedDocument


@dataclass(frozen=True, slots=True)
class Section:
    """One heading with its own body, without its subsections.

    Attributes:
        path: Headings from the top of the document down to this one; empty before the first.
        level: Level of the heading; 0 before the first.
        anchor: Fragment of the address; empty for the document itself.
        heading: The heading's block; None before the first.
        body: Blocks under it, possibly none.
    """

    path: tuple[str, ...]
    level: int
    anchor: str
    heading: Block | None
    body: tuple[Block, ...]

    def is_above(self, other: Section) -> bool:
        """Whether the other section is somewhere under this one."""
        return self.level < other.level and other.path[: len(self.path)] == self.path


def split_sections(document: ParsedDocument) -> list[Section]:
    """Return the sections of a document in order; each block is in exactly one."""
    sections: list[Section] = []
    open_headings: list[Block] = []
    body: list[Block] = []

    def close() -> None:
        if open_headings or body:
            heading = open_headings[-1] if open_headings else None
            sections.append(
                Section(
                    path=tuple(block.heading for block in open_headings),
                    level=heading.level if heading else 0,
                    anchor=heading.anchor if heading else "",
                    heading=heading,
                    body=tuple(body),
                )
            )
            body.clear()

    for block in document.blocks:
        if block.kind != "heading":
            body.append(block)
            continue
        close()
        while open_headings and open_headings[-1].level >= block.level:
            open_headings.pop()
        open_headings.append(block)
    close()
    return sections
