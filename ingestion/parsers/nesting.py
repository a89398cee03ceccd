"""Titled components as sections: the tabs of a page, the steps of a procedure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ingestion.document import Block
from ingestion.parsers.components import View
from ingestion.parsers.lines import LineIndex


def nest_components(blocks: Sequence[Block], view: View, lines: LineIndex) -> tuple[Block, ...]:
    """Return the blocks with a heading for each titled component, and one where it ends.

    A heading inside a component stands under its title. After the component the section around it
    goes on, by an empty heading that names it again.
    """
    if not view.openings:
        return tuple(blocks)
    events: list[tuple[int, int, str | None, Block | None]] = []
    events += [(lines.start(line), 0, None, None) for line in view.closings]
    events += [(lines.start(line), 1, title, None) for line, title in view.openings.items()]
    events += [(block.start, 2, None, block) for block in blocks]
    nester = _Nester()
    for position, kind, title, block in sorted(events, key=lambda event: event[:2]):
        if block is not None:
            nester.block(block)
        elif kind == 0:
            nester.close(position)
        else:
            nester.open(position, title or "")
    return tuple(nester.result)


@dataclass
class _Nester:
    result: list[Block] = field(default_factory=list[Block])
    current: Block | None = None
    around: list[tuple[Block | None, int]] = field(default_factory=list[tuple[Block | None, int]])

    def block(self, block: Block) -> None:
        if block.kind == "heading":
            base = self.around[-1][1] if self.around else 0
            block = replace(block, level=block.level + base)
            self.current = block
        self.result.append(block)

    def open(self, position: int, title: str) -> None:
        level = (self.current.level if self.current else 0) + 1
        anchor = self.current.anchor if self.current else ""
        self.around.append((self.current, level))
        self.current = Block("heading", position, position, level, title, anchor)
        self.result.append(self.current)

    def close(self, position: int) -> None:
        if not self.around:
            return
        self.current, level = self.around.pop()
        reopened = self.current or Block("heading", position, position, level)
        self.result.append(replace(reopened, start=position, end=position))
