"""Structural chunking: sections gathered while small, split at sentence ends when large."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ingestion.composing import Composer, SizedSection, facts_at, owner_of
from ingestion.document import ParsedDocument
from ingestion.drafts import Draft
from ingestion.packing import pack
from ingestion.rules import Chunked, ChunkRules, Tokenizer
from ingestion.sections import split_sections
from ingestion.units import Unit

__all__ = ["ChunkRules", "Chunked", "StructuralChunker", "Tokenizer", "chunk_document"]

_SMALL_SHARE = 3


@dataclass(frozen=True, slots=True)
class StructuralChunker:
    """Follows the document's own sections."""

    tokenizer: Tokenizer
    rules: ChunkRules

    @property
    def name(self) -> str:
        """Name with every parameter."""
        return self.rules.name

    @property
    def parts_name(self) -> str:
        """Name and parameters of the parts it makes; empty when it makes none."""
        return self.rules.parts_name

    def chunk(self, document: ParsedDocument) -> Chunked:
        """Return the chunks of one document in order."""
        return chunk_document(document, self.tokenizer, self.rules)


def chunk_document(document: ParsedDocument, tokenizer: Tokenizer, rules: ChunkRules) -> Chunked:
    """Cut one document into chunks.

    Every chunk's ``text`` is a contiguous slice of the document; its ``text_for_embedding`` has the
    header, and leaves out repeated lines; header and body together never exceed the model's input.
    """
    rules = rules.suited(document)
    composer = Composer(document, tokenizer, rules)
    sized = [composer.size(section) for section in split_sections(document)]
    drafts: list[Draft] = []
    for group in _gather(composer, sized):
        for units in pack(list(_flatten(composer, group)), rules):
            drafts.extend(composer.compose(owner_of(group, units), units, len(drafts)))
    return Chunked(tuple(drafts), sum(item.repeated_lines for item in sized))


def _gather(composer: Composer, sized: Sequence[SizedSection]) -> Iterator[list[SizedSection]]:
    """Yield runs of sections that share a chunk; a heading alone goes with what follows."""
    group: list[SizedSection] = []
    tokens = 0
    for item in sized:
        heading = composer.heading(item.section)
        cost = item.tokens + (heading.tokens if heading else 0)
        if group and not _belongs(composer.rules, group, tokens, item, cost):
            yield group
            group, tokens = [], 0
        tokens += cost if group or not item.units else item.tokens
        group.append(item)
    if group:
        yield group


def _belongs(
    rules: ChunkRules, group: Sequence[SizedSection], tokens: int, item: SizedSection, cost: int
) -> bool:
    fits = tokens + cost <= rules.body_tokens
    first = next((member.section for member in group if member.units), None)
    if first is None:  # nothing but headings so far
        return fits or item.section.level > group[0].section.level
    is_elsewhere = facts_at(item.section, 0) != facts_at(first, 0)  # another page or speaker
    if item.section.level < first.level or not fits or is_elsewhere:
        return False
    small = rules.body_tokens // _SMALL_SHARE
    return not item.units or tokens <= small or cost <= small


def _flatten(composer: Composer, group: Sequence[SizedSection]) -> Iterator[Unit]:
    owner = next((item.section for item in group if item.units), None)
    for item in group:
        heading = composer.heading(item.section)
        # The header names the first section and those above it already.
        is_in_header = owner is not None and (item.section is owner or item.section.is_above(owner))
        if heading and not is_in_header:
            yield heading
        yield from item.units
