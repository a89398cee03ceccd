"""Where the chunks of an index stand, read in one pass: documents, and the headings over them."""

from __future__ import annotations

from dataclasses import dataclass, field

from evals.observations import EVERYTHING
from retrieval.chunk import Chunk
from retrieval.store import Store

_LONGEST_HEADING = 100
_RULE = "#=-~* \t"


@dataclass(frozen=True, slots=True)
class Places:
    """Every chunk's places.

    Attributes:
        documents_of: Chunk id to the ids of the documents it stands in, in order.
        headings: Headings of the index as they are written, each once, in the order of the chunks.
        under: Heading, as ``normal`` has it, to the ids of the chunks under it, its subsections
            among them, and of those in whose text it stands as a line of its own.
    """

    documents_of: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    headings: tuple[str, ...] = ()
    under: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])


def plain(heading: str) -> str:
    """Return a heading on one line, without the punctuation around it."""
    return " ".join(heading.split()).strip(" .:?!")


def normal(heading: str) -> str:
    """Return a heading in the form in which headings are compared."""
    return plain(heading).casefold()


async def read_places(store: Store) -> Places:
    """Read every chunk of an open index once."""
    documents_of: dict[str, tuple[str, ...]] = {}
    headings: dict[str, str] = {}
    over: dict[str, frozenset[str]] = {}
    async for point in store.scan(where=EVERYTHING):
        chunk = point.chunk
        documents_of[chunk.chunk_id] = tuple(
            dict.fromkeys(place.document_id for place in chunk.occurrences)
        )
        own = [place.section_heading for place in chunk.occurrences if place.section_heading]
        for heading in own:
            headings.setdefault(normal(heading), plain(heading))
        above = [place.parent_heading for place in chunk.occurrences]
        over[chunk.chunk_id] = frozenset(map(normal, (*own, *above, *_lines(chunk))))
    under: dict[str, set[str]] = {heading: set() for heading in headings}
    for chunk_id, lines in over.items():
        for heading in lines & headings.keys():
            under[heading].add(chunk_id)
    return Places(
        documents_of,
        tuple(headings.values()),
        {heading: frozenset(ids) for heading, ids in under.items()},
    )


def _lines(chunk: Chunk) -> list[str]:
    """Return the lines of a passage that may be headings of sections gathered into it."""
    lines = (line.strip(_RULE) for line in chunk.text.splitlines())
    return [line for line in lines if 0 < len(line) <= _LONGEST_HEADING]
