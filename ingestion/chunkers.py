"""The other ways to cut, by name: blind to sections, for comparison and for texts without any."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from ingestion.chunking import StructuralChunker
from ingestion.composing import Composer, SizedSection, owner_of
from ingestion.document import ParsedDocument
from ingestion.drafts import Draft
from ingestion.packing import pack
from ingestion.parts import PartRules
from ingestion.recursive import split_recursively
from ingestion.rules import Chunked, Chunker, ChunkRules, Tokenizer
from ingestion.sections import split_sections
from ingestion.units import Unit
from retrieval.chunk import DenseVector

ChunkerName = Literal["structural", "sentence", "semantic", "recursive"]

_PERCENTILE = 95
_SHORT_INPUT_TOKENS = 256
_SIZES: dict[ChunkerName, tuple[int, int]] = {
    "structural": (350, 50),
    "sentence": (1024, 200),
    "semantic": (1024, 0),
    "recursive": (512, 50),
}
_SHORT_SIZES = (180, 40)
_SHORT_CODE = 150
"""What measured best with the packaged model, which reads 256 tokens, when passages have parts."""


class SentenceEmbedder(Protocol):
    """What semantic chunking needs of a model."""

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's own tokenizer."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> list[DenseVector]:
        """Return one unit vector of shape (dimension,) per text; blocks."""
        ...


def make_chunker(
    name: ChunkerName,
    embedder: SentenceEmbedder,
    *,
    input_limit_tokens: int,
    target_tokens: int = 0,
    overlap_tokens: int | None = None,
    parts: PartRules | None = None,
) -> Chunker:
    """Return a chunker by name.

    Args:
        name: How to cut.
        embedder: Its tokenizer counts; ``semantic`` also embeds sentences with it.
        input_limit_tokens: What the model reads; no chunk exceeds it, whatever the target.
        target_tokens: Longest body; 0 takes the chunker's own size.
        overlap_tokens: Repeated at a cut; None takes the chunker's own.
        parts: Sizes of the parts that get vectors of their own; None makes none.
    """
    rules = rules_for(
        name,
        input_limit_tokens=input_limit_tokens,
        target_tokens=target_tokens,
        overlap_tokens=overlap_tokens,
        parts=parts,
    )
    if name == "structural":
        return StructuralChunker(embedder.tokenizer, rules)
    if name == "semantic":
        return FlatChunker(
            embedder.tokenizer, rules, lambda composer, units: _topics(composer, units, embedder)
        )
    if name == "recursive":
        return FlatChunker(embedder.tokenizer, rules, is_recursive=True)
    return FlatChunker(embedder.tokenizer, rules)


def rules_for(
    name: ChunkerName,
    *,
    input_limit_tokens: int,
    target_tokens: int = 0,
    overlap_tokens: int | None = None,
    parts: PartRules | None = None,
) -> ChunkRules:
    """Return the sizes of a chunker for a model.

    Args:
        name: Of the chunker.
        input_limit_tokens: What the model reads.
        target_tokens: Longest body; 0 takes the chunker's own size.
        overlap_tokens: Repeated at a cut; None takes the chunker's own.
        parts: Sizes of the parts that get vectors of their own; None makes none.
    """
    target, overlap = _SIZES[name]
    code = 0
    if name == "structural" and input_limit_tokens <= _SHORT_INPUT_TOKENS:
        target, overlap = _SHORT_SIZES
        code = 0 if target_tokens else _SHORT_CODE
    return ChunkRules(
        target_tokens=target_tokens or target,
        overlap_tokens=overlap if overlap_tokens is None else overlap_tokens,
        input_limit_tokens=input_limit_tokens,
        code_tokens=code,
        kind="structural-2" if name == "structural" else f"{name}-1",
        parts=parts,
    )


Breaks = Callable[[Composer, Sequence[Unit]], Sequence[int]]


@dataclass(frozen=True, slots=True)
class FlatChunker:
    """Cuts a document as one run of sentences, code blocks and tables.

    Attributes:
        breaks: Returns the positions of units that begin a chunk; None lets size alone decide.
        is_recursive: Cut prose at paragraphs first, then lines, sentences and words.
    """

    tokenizer: Tokenizer
    rules: ChunkRules
    breaks: Breaks | None = None
    is_recursive: bool = False

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
        composer = Composer(document, self.tokenizer, self.rules)
        sized = [composer.size(section) for section in split_sections(document)]
        units = list(self._units(composer, sized))
        breaks = frozenset(self.breaks(composer, units)) if self.breaks else frozenset[int]()
        drafts: list[Draft] = []
        for packed in pack(units, self.rules, breaks=breaks):
            drafts.extend(composer.compose(owner_of(sized, packed), packed, len(drafts)))
        return Chunked(tuple(drafts), sum(item.repeated_lines for item in sized))

    def _units(self, composer: Composer, sized: Sequence[SizedSection]) -> Iterator[Unit]:
        for item in sized:
            heading = composer.heading(item.section)
            if heading:
                yield heading
            if self.is_recursive:
                yield from split_recursively(composer, item)
            else:
                yield from item.units


def _topics(composer: Composer, units: Sequence[Unit], embedder: SentenceEmbedder) -> Sequence[int]:
    """Return where consecutive units say different things.

    A break stands where the cosine distance of two neighbours is above the 95th percentile of all
    such distances in the document.
    """
    pairs = [
        at
        for at in range(1, len(units))
        if units[at - 1].is_prose and units[at].is_prose  # headings, code and tables hold together
    ]
    if len(pairs) <= 1:
        return ()
    text = composer.document.text
    vectors = np.stack(embedder.embed_passages([text[unit.start : unit.end] for unit in units]))
    distances = np.array([1.0 - float(vectors[at - 1] @ vectors[at]) for at in pairs])
    limit = float(np.percentile(distances, _PERCENTILE))
    return [at for at, distance in zip(pairs, distances, strict=True) if distance > limit]
