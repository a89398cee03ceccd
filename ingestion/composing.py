"""Units to drafts: the shown slice, the embedded text, the place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ingestion.document import Block, ParsedDocument
from ingestion.drafts import Draft
from ingestion.header import build_header, with_context
from ingestion.parts import windows
from ingestion.repetition import Span, repeated_lines
from ingestion.rules import ChunkRules, Tokenizer
from ingestion.sections import Section
from ingestion.spans import TokenSpans, shorten_rulers
from ingestion.units import Unit, UnitCutter
from retrieval.chunk import JsonScalar


@dataclass(frozen=True, slots=True)
class SizedSection:
    """A section cut into units.

    Attributes:
        tokens: Of all units together.
        repeated_lines: Left out of the units.
    """

    section: Section
    units: tuple[Unit, ...]
    tokens: int
    repeated_lines: int


class Composer:
    """Cuts one document's sections into units and puts drafts together from them.

    Args:
        document: Whose text every span refers to.
        tokenizer: The embedding model's.
        rules: Sizes.
    """

    def __init__(self, document: ParsedDocument, tokenizer: Tokenizer, rules: ChunkRules) -> None:
        self.document = document
        self.rules = rules
        self._tokenizer = tokenizer
        self.spans = TokenSpans(document.text, tokenizer.offsets(document.text))
        self._cutter = UnitCutter(document.text, self.spans, rules.body_tokens)

    def size(self, section: Section) -> SizedSection:
        """Cut a section into units, lines that it repeats left out."""
        text = self.document.text
        dropped = repeated_lines(text, list(_prose_lines(text, section)))
        units = tuple(unit for block in section.body for unit in self._cutter.units(block, dropped))
        return SizedSection(section, units, sum(unit.tokens for unit in units), len(dropped))

    def heading(self, section: Section) -> Unit | None:
        """Return a section's heading as a unit; None when it does not stand in the text."""
        block = section.heading
        if block is None or block.start == block.end:
            return None
        tokens = self.spans.count(block.start, block.end)
        return Unit(block.start, block.end, tokens, is_prose=False)

    def compose(self, owner: Section, units: Sequence[Unit], position: int) -> list[Draft]:
        """Return one draft, or two of its halves if header and body together are too long.

        Args:
            owner: The section whose heading the draft carries.
            units: In order, at least one.
            position: Place of the draft in the document.
        """
        body = self._embedded_body(units)
        room = min(self.rules.header_tokens, self.rules.total_tokens - self._count(body))
        if room < 0 and (halves := self._halved(units)):
            drafts: list[Draft] = []
            for half in halves:
                drafts.extend(self.compose(owner, half, position + len(drafts)))
            return drafts
        limit = max(0, room)
        header = build_header(
            self.document.title, owner.path, limit_tokens=limit, count=self._count
        )
        header = with_context(header, self.document.context, limit_tokens=limit, count=self._count)
        draft = self._draft(owner, units, _under(header, body), position)
        return [draft.model_copy(update={"parts": self._parts(units, header)})]

    def _parts(self, units: Sequence[Unit], header: str) -> tuple[str, ...]:
        rules = self.rules.parts
        if rules is None:
            return ()
        bodies = [self._embedded_body(part) for part in windows(units, self._cutter, rules)]
        return tuple(_under(header, body) for body in bodies)

    def _count(self, text: str) -> int:
        return self._tokenizer.count(text)

    def _halved(self, units: Sequence[Unit]) -> tuple[Sequence[Unit], Sequence[Unit]] | None:
        if len(units) > 1:
            return units[: len(units) // 2], units[len(units) // 2 :]
        halves = self._cutter.halves(units[0])
        return ([halves[0]], [halves[1]]) if halves else None

    def _embedded_body(self, units: Sequence[Unit]) -> str:
        text = self.document.text
        parts = [f"{units[0].header}\n" if units[0].header else ""]
        for at, unit in enumerate(units):
            if at:
                gap = text[units[at - 1].end : unit.start]
                parts.append("\n" if gap.strip() else gap)
                if unit.header and unit.header != units[at - 1].header:
                    parts.append(f"{unit.header}\n")
            parts.append(text[unit.start : unit.end])
        return shorten_rulers("".join(parts)).strip("\n")

    def _draft(self, owner: Section, units: Sequence[Unit], embedded: str, position: int) -> Draft:
        document = self.document
        heading = owner.path[-1] if owner.path else document.title
        parent = owner.path[-2] if len(owner.path) > 1 else document.title
        return Draft(
            position=position,
            start=units[0].start,
            text=document.text[units[0].start : units[-1].end],
            text_for_embedding=embedded,
            path=owner.path or (document.title,),
            section_heading=heading,
            parent_heading=parent if parent != heading else "",
            source_url=with_anchor(document.url, _anchor(owner, units[0].start)),
            metadata={**document.metadata, **facts_at(owner, units[0].start)},
        )


def _under(header: str, body: str) -> str:
    return f"{header}\n{body}" if header else body


def with_anchor(url: str, anchor: str) -> str:
    """Return the address of a place in a document; a finer fragment replaces its own."""
    return f"{url.partition('#')[0]}#{anchor}" if anchor else url


def _prose_lines(text: str, section: Section) -> Iterator[Span]:
    for block in section.body:
        if block.kind != "text":
            continue
        at = block.start
        while at < block.end:
            end = text.find("\n", at, block.end)
            end = block.end if end == -1 else end
            if text[at:end].strip():
                yield at, end
            at = end + 1


def owner_of(members: Sequence[SizedSection], units: Sequence[Unit]) -> Section:
    """Return the section whose heading a chunk carries: the first with a body in it."""
    inside = [
        item.section for item in members if item.units and item.units[-1].end > units[0].start
    ]
    return inside[0] if inside else members[-1].section


def _anchor(section: Section, start: int) -> str:
    block = block_at(section, start)
    return (block.anchor if block else "") or section.anchor


def facts_at(section: Section, start: int) -> dict[str, JsonScalar]:
    """Return what a citation needs from the place where a passage begins."""
    block = block_at(section, start)
    return dict(block.facts) if block else {}


def block_at(section: Section, start: int) -> Block | None:
    """Return the first block of a section that ends after an offset."""
    return next((block for block in section.body if block.end > start), None)
