"""Structural chunking: sections gathered while small, split at sentence ends when large."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from ingestion.document import ParsedDocument
from ingestion.drafts import Draft
from ingestion.header import build_header
from ingestion.repetition import Span, repeated_lines
from ingestion.sections import Section, split_sections
from ingestion.spans import TokenSpans, shorten_rulers
from ingestion.units import Unit, UnitCutter
from retrieval.chunk import JsonScalar

_SPECIAL_TOKENS = 4
_HEADER_TOKENS = 96
_SMALLEST_HEADER_TOKENS = 32
_SMALL_SHARE = 3
_WIDEST_GAP_CHARACTERS = 800  # of repeated lines shown, though not embedded, inside one passage


class Tokenizer(Protocol):
    """The embedding model's tokenizer."""

    def count(self, text: str) -> int:
        """Return the number of tokens, special ones not counted."""
        ...

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the character span of each token, special ones not counted."""
        ...


@dataclass(frozen=True, slots=True)
class ChunkRules:
    """Sizes, all in the embedding model's own tokens.

    Attributes:
        target_tokens: Body of a chunk, at most.
        overlap_tokens: Sentences of the chunk before, repeated at a cut inside a section.
        input_limit_tokens: What the model reads, special tokens included.
    """

    target_tokens: int
    overlap_tokens: int
    input_limit_tokens: int

    @property
    def body_tokens(self) -> int:
        """Body of a chunk once room is left for the header and special tokens."""
        room = self.input_limit_tokens - _SPECIAL_TOKENS - _SMALLEST_HEADER_TOKENS
        return max(1, min(self.target_tokens, room))

    @property
    def header_tokens(self) -> int:
        """Room for the header."""
        return max(0, min(_HEADER_TOKENS, self.total_tokens - self.body_tokens))

    @property
    def total_tokens(self) -> int:
        """Header and body together, special tokens not counted."""
        return self.input_limit_tokens - _SPECIAL_TOKENS

    @property
    def name(self) -> str:
        """Name and parameters, part of a build's stamp."""
        return f"structural-2({self.target_tokens}/{self.overlap_tokens})"


@dataclass(frozen=True, slots=True)
class Chunked:
    """The chunks of one document.

    Attributes:
        repeated_lines: Lines left out of what is embedded because the section already said them.
    """

    drafts: tuple[Draft, ...]
    repeated_lines: int


def chunk_document(document: ParsedDocument, tokenizer: Tokenizer, rules: ChunkRules) -> Chunked:
    """Cut one document into chunks.

    Every chunk's ``text`` is a contiguous slice of the document; its ``text_for_embedding`` has the
    header, and leaves out repeated lines; header and body together never exceed the model's input.
    """
    return _StructuralChunker(document, tokenizer, rules).run()


@dataclass(frozen=True, slots=True)
class _Sized:
    section: Section
    units: tuple[Unit, ...]
    tokens: int


class _StructuralChunker:
    def __init__(self, document: ParsedDocument, tokenizer: Tokenizer, rules: ChunkRules) -> None:
        self._document = document
        self._tokenizer = tokenizer
        self._rules = rules
        self._spans = TokenSpans(document.text, tokenizer.offsets(document.text))
        self._cutter = UnitCutter(document.text, self._spans, rules.body_tokens)
        self._repeated = 0

    def run(self) -> Chunked:
        sized = [self._size(section) for section in split_sections(self._document)]
        drafts: list[Draft] = []
        for group in self._gather(sized):
            for units in self._pack(group):
                drafts.extend(self._compose(group, units, len(drafts)))
        return Chunked(tuple(drafts), self._repeated)

    def _size(self, section: Section) -> _Sized:
        lines = list(_prose_lines(self._document.text, section))
        dropped = repeated_lines(self._document.text, lines)
        self._repeated += len(dropped)
        units = tuple(unit for block in section.body for unit in self._cutter.units(block, dropped))
        return _Sized(section, units, sum(unit.tokens for unit in units))

    def _heading_unit(self, section: Section) -> Unit | None:
        heading = section.heading
        if heading is None or heading.start == heading.end:
            return None
        tokens = self._spans.count(heading.start, heading.end)
        return Unit(heading.start, heading.end, tokens, is_prose=False)

    def _gather(self, sized: Sequence[_Sized]) -> Iterator[list[_Sized]]:
        """Yield runs of sections that share a chunk; a heading alone goes with what follows."""
        group: list[_Sized] = []
        tokens = 0
        for item in sized:
            heading = self._heading_unit(item.section)
            cost = item.tokens + (heading.tokens if heading else 0)
            if group and not self._belongs(group, tokens, item, cost):
                yield group
                group, tokens = [], 0
            tokens += cost if group or not item.units else item.tokens
            group.append(item)
        if group:
            yield group

    def _belongs(self, group: Sequence[_Sized], tokens: int, item: _Sized, cost: int) -> bool:
        fits = tokens + cost <= self._rules.body_tokens
        first = next((member.section for member in group if member.units), None)
        if first is None:  # nothing but headings so far
            return fits or item.section.level > group[0].section.level
        is_elsewhere = _facts(item.section, 0) != _facts(first, 0)  # another page, another speaker
        if item.section.level < first.level or not fits or is_elsewhere:
            return False
        small = self._rules.body_tokens // _SMALL_SHARE
        return not item.units or tokens <= small or cost <= small

    def _pack(self, group: Sequence[_Sized]) -> Iterator[list[Unit]]:
        """Yield the units of each chunk, with overlap at cuts inside a section."""
        current: list[Unit] = []
        for unit in self._flatten(group):
            if current and unit.start - current[-1].end > _WIDEST_GAP_CHARACTERS:
                yield current
                current = []
            elif current and not self._fits([*current, unit]):
                yield current
                current = self._overlap(current, unit)
            current.append(unit)
        if current:
            yield current

    def _flatten(self, group: Sequence[_Sized]) -> Iterator[Unit]:
        owner = next((item.section for item in group if item.units), None)
        for item in group:
            heading = self._heading_unit(item.section)
            # The header names the first section and those above it already.
            is_in_header = owner is not None and (
                item.section is owner or item.section.is_above(owner)
            )
            if heading and not is_in_header:
                yield heading
            yield from item.units

    def _fits(self, units: Sequence[Unit]) -> bool:
        return sum(unit.tokens for unit in units) <= self._rules.body_tokens

    def _overlap(self, before: Sequence[Unit], unit: Unit) -> list[Unit]:
        kept: list[Unit] = []
        tokens = 0
        for candidate in reversed(before[1:]):
            tokens += candidate.tokens
            if not candidate.is_prose or tokens > self._rules.overlap_tokens:
                break
            kept.insert(0, candidate)
        return kept if self._fits([*kept, unit]) else []

    def _compose(
        self, group: Sequence[_Sized], units: Sequence[Unit], position: int
    ) -> list[Draft]:
        """Return one draft, or two of its halves if the header and body together are too long."""
        body = self._embedded_body(units)
        owner = _owner(group, units)
        room = min(self._rules.header_tokens, self._rules.total_tokens - self._count(body))
        if room < 0 and (halves := self._halved(units)):
            drafts: list[Draft] = []
            for half in halves:
                drafts.extend(self._compose(group, half, position + len(drafts)))
            return drafts
        header = build_header(
            self._document.title,
            owner.path,
            limit_tokens=max(0, room),
            count=self._count,
        )
        return [self._draft(owner, units, f"{header}\n{body}" if header else body, position)]

    def _count(self, text: str) -> int:
        return self._tokenizer.count(text)

    def _halved(self, units: Sequence[Unit]) -> tuple[Sequence[Unit], Sequence[Unit]] | None:
        if len(units) > 1:
            return units[: len(units) // 2], units[len(units) // 2 :]
        halves = self._cutter.halves(units[0])
        return ([halves[0]], [halves[1]]) if halves else None

    def _embedded_body(self, units: Sequence[Unit]) -> str:
        text = self._document.text
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
        document = self._document
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
            metadata={**document.metadata, **_facts(owner, units[0].start)},
        )


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


def _owner(group: Sequence[_Sized], units: Sequence[Unit]) -> Section:
    """Return the section whose heading a chunk carries: the first with a body in it."""
    inside = [item.section for item in group if item.units and item.units[-1].end > units[0].start]
    return inside[0] if inside else group[-1].section


def _anchor(section: Section, start: int) -> str:
    block = next((block for block in section.body if block.end > start), None)
    return (block.anchor if block else "") or section.anchor


def _facts(section: Section, start: int) -> dict[str, JsonScalar]:
    block = next((block for block in section.body if block.end > start), None)
    return dict(block.facts) if block else {}
