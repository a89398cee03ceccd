"""Ways to cut a section, for the default and for the ladder that leads to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from ingestion.chunking import ChunkRules, Tokenizer, chunk_document
from ingestion.document import ParsedDocument
from ingestion.drafts import Draft
from ingestion.header import HEADER_FORMAT
from ingestion.repetition import repeated_lines

_NO_HEADER = "none"


class Cutter(Protocol):
    """Cuts documents; its names go into the build's stamp and so into the cache key."""

    @property
    def name(self) -> str:
        """Name with every parameter."""
        ...

    @property
    def parts_name(self) -> str:
        """Name and parameters of the parts it makes; empty when it makes none."""
        ...

    @property
    def header_format(self) -> str:
        """Name and version of the header it puts in front of what is embedded."""
        ...

    def cut(self, document: ParsedDocument) -> tuple[Draft, ...]:
        """Return the chunks of a document in order."""
        ...


@dataclass(frozen=True, slots=True)
class StructuralCutter:
    """The pipeline's own chunker, with or without its header.

    Attributes:
        has_header: False embeds the body alone.
    """

    tokenizer: Tokenizer
    rules: ChunkRules
    has_header: bool = True

    @property
    def name(self) -> str:
        """Name with every parameter."""
        return self.rules.name

    @property
    def parts_name(self) -> str:
        """Name and parameters of the parts it makes; empty when it makes none."""
        return self.rules.parts_name if self.has_header else ""

    @property
    def header_format(self) -> str:
        """The pipeline's, or none."""
        return HEADER_FORMAT if self.has_header else _NO_HEADER

    def cut(self, document: ParsedDocument) -> tuple[Draft, ...]:
        """Return the chunks of a document in order."""
        drafts = chunk_document(document, self.tokenizer, self.rules).drafts
        return drafts if self.has_header else tuple(_headless(draft, document) for draft in drafts)


@dataclass(frozen=True, slots=True)
class FixedCutter:
    """Windows of so many tokens, blind to everything: where the ladder starts.

    Attributes:
        without_repeats: Leave out lines that the section already said.
    """

    tokenizer: Tokenizer
    rules: ChunkRules
    without_repeats: bool = False

    @property
    def name(self) -> str:
        """Name with every parameter."""
        kind = "fixed-without-repeats" if self.without_repeats else "fixed"
        return f"{kind}({self.rules.body_tokens}/{self.rules.overlap_tokens})"

    @property
    def parts_name(self) -> str:
        """None."""
        return ""

    @property
    def header_format(self) -> str:
        """None."""
        return _NO_HEADER

    def cut(self, document: ParsedDocument) -> tuple[Draft, ...]:
        """Return the windows of a document in order."""
        text = _unrepeated(document.text) if self.without_repeats else document.text
        return tuple(
            Draft(
                position=place,
                start=start,
                text=text[start:end],
                text_for_embedding=text[start:end],
                path=(document.title,),
                section_heading=document.title,
                parent_heading="",
                source_url=document.url,
            )
            for place, (start, end) in enumerate(self._windows(text))
            if text[start:end].strip()
        )

    def _windows(self, text: str) -> Iterator[tuple[int, int]]:
        tokens = self.tokenizer.offsets(text)
        step = self.rules.body_tokens - self.rules.overlap_tokens
        for first in range(0, max(1, len(tokens) - self.rules.overlap_tokens), step):
            window = tokens[first : first + self.rules.body_tokens]
            if window:
                yield window[0][0], window[-1][1]


def _headless(draft: Draft, document: ParsedDocument) -> Draft:
    first, _, rest = draft.text_for_embedding.partition("\n")
    # The header is the first line and ends in a heading; a body that has none begins otherwise.
    is_header = bool(rest) and (first.startswith(document.title) or first.endswith(draft.path[-1]))
    bare = draft.model_copy(update={"parts": ()})
    return bare.model_copy(update={"text_for_embedding": rest}) if is_header else bare


def _unrepeated(text: str) -> str:
    lines: list[tuple[int, int]] = []
    at = 0
    for line in text.split("\n"):
        if line.strip():
            lines.append((at, at + len(line)))
        at += len(line) + 1
    dropped = set(repeated_lines(text, lines))
    return "\n".join(text[start:end] for start, end in lines if (start, end) not in dropped)
