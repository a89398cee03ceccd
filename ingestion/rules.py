"""Sizes of chunks, and what every chunker takes and gives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from ingestion.document import ParsedDocument
from ingestion.drafts import Draft
from ingestion.parts import PartRules

_SPECIAL_TOKENS = 4
_HEADER_TOKENS = 96
_SMALLEST_HEADER_TOKENS = 32


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
        code_tokens: Body of a chunk of program text, at most; 0: as of any other.
        kind: Name and version of the chunker the sizes are for.
        parts: Sizes of the parts that get vectors of their own; None makes none.
    """

    target_tokens: int
    overlap_tokens: int
    input_limit_tokens: int
    code_tokens: int = 0
    kind: str = "structural-2"
    parts: PartRules | None = None

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
        code = f", code {self.code_tokens}" if self.code_tokens else ""
        parts = f" in {self.parts.name}" if self.parts else ""
        return f"{self.kind}({self.target_tokens}/{self.overlap_tokens}{code}){parts}"

    def suited(self, document: ParsedDocument) -> ChunkRules:
        """Return the sizes for a document: a file of program text has its own."""
        kinds = {block.kind for block in document.blocks} - {"heading"}
        if kinds != {"code"} or not 0 < self.code_tokens < self.target_tokens:
            return self
        return replace(self, target_tokens=self.code_tokens)

    @property
    def parts_name(self) -> str:
        """Name and parameters of the parts, part of a build's stamp; empty when there are none."""
        return self.parts.name if self.parts else ""


@dataclass(frozen=True, slots=True)
class Chunked:
    """The chunks of one document.

    Attributes:
        repeated_lines: Lines left out of what is embedded because the section already said them.
    """

    drafts: tuple[Draft, ...]
    repeated_lines: int


class Chunker(Protocol):
    """Cuts documents into chunks."""

    @property
    def name(self) -> str:
        """Name with every parameter, part of a build's stamp."""
        ...

    @property
    def parts_name(self) -> str:
        """Name and parameters of the parts it makes; empty when it makes none."""
        ...

    def chunk(self, document: ParsedDocument) -> Chunked:
        """Return the chunks of one document in order; blocks."""
        ...
