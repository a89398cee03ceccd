"""A document as a parser hands it over: one text, and blocks that are spans of it.

Everything downstream speaks of character offsets into ``ParsedDocument.text``, so that what is
shown and cited is always an exact slice of what was read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from retrieval.chunk import JsonScalar

BlockKind = Literal["heading", "text", "code", "table"]


@dataclass(frozen=True, slots=True)
class RawContent:
    """Bytes as they were read, before anyone knows what they are.

    Attributes:
        document_id: Name within the source: relative path, topic or address.
        url: Address a reader can open.
        media_type: What the sender claims; empty when nobody does. Sniffing has the last word.
        updated_at: UTC, ISO 8601, empty when unknown.
    """

    document_id: str
    url: str
    data: bytes
    media_type: str = ""
    updated_at: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """A span of the text with its role.

    Attributes:
        start: First character, inclusive.
        end: Last character, exclusive.
        level: Depth of a heading, from 1; 0 for everything else.
        heading: Words of a heading, without markup.
        anchor: Fragment of the address where this block is found, without ``#``.
        header_end: For a table, where its header rows end; equal to start when it has none.
        facts: Values a citation needs from this place, such as the page number.
    """

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    heading: str = ""
    anchor: str = ""
    header_end: int = 0
    facts: Mapping[str, JsonScalar] = field(default_factory=dict[str, JsonScalar])


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """One document, or one page of a file that holds many.

    Attributes:
        text: What was read, after extraction for formats that are not text themselves.
        blocks: In order and disjoint; what lies between them is white space or dropped markup.
        language: ISO 639-1 code, empty when unknown.
        context: Words of the whole document that are put beside the header of every chunk, such as
            the names that a file of code defines; embedded as far as they fit, never shown.
    """

    document_id: str
    title: str
    url: str
    text: str
    blocks: tuple[Block, ...]
    language: str = ""
    updated_at: str = ""
    metadata: Mapping[str, JsonScalar] = field(default_factory=dict[str, JsonScalar])
    context: str = ""


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a parser made of one file.

    Attributes:
        documents: At least one.
        dropped: What was left out, by kind, with how many (``script``: 3).
    """

    documents: tuple[ParsedDocument, ...]
    dropped: Mapping[str, int] = field(default_factory=dict[str, int])
