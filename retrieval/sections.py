"""The section tree of a build, in document order, a page at a time."""

from __future__ import annotations

from dataclasses import dataclass, field

from retrieval.errors import BadRequestError
from retrieval.manifest import Manifest
from retrieval.search import SectionEntry, SectionOutcome
from retrieval.store import Filter, Store

_PAGE_SIZE = 100


@dataclass(slots=True)
class _Counted:
    first_chunk_id: str
    first_position: int
    source_url: str
    chunks: int = 0


@dataclass(frozen=True, slots=True)
class SectionTree:
    """Every visible section of a build.

    Attributes:
        sections: In order of source, document and position.
        sources: Chunks of each source.
    """

    sections: tuple[SectionEntry, ...]
    sources: dict[str, int] = field(default_factory=dict[str, int])


async def read_tree(store: Store, where: Filter) -> SectionTree:
    """Read all visible chunks and group them by section.

    Args:
        store: The build's index.
        where: Source and labels.
    """
    found: dict[tuple[str, str, str, str, str], _Counted] = {}
    sources: dict[str, int] = {}
    async for stored in store.scan(where=where):
        for source in {place.source for place in stored.chunk.occurrences}:
            sources[source] = sources.get(source, 0) + 1
        for place in stored.chunk.occurrences:
            key = (
                place.source,
                place.document_id,
                place.title,
                place.parent_heading,
                place.section_heading,
            )
            counted = found.get(key)
            if counted is None:
                counted = found[key] = _Counted("", 1 << 62, "")
            counted.chunks += 1
            if (place.position, stored.chunk.chunk_id) < (
                counted.first_position,
                counted.first_chunk_id,
            ):
                counted.first_position = place.position
                counted.first_chunk_id = stored.chunk.chunk_id
                counted.source_url = place.source_url
    ordered = sorted(found.items(), key=lambda e: (e[0][0], e[0][1], e[1].first_position, e[0]))
    entries = tuple(
        SectionEntry(
            source=source,
            title=title,
            parent_heading=parent,
            section_heading=heading,
            source_url=counted.source_url,
            chunks=counted.chunks,
            first_chunk_id=counted.first_chunk_id,
        )
        for (source, _, title, parent, heading), counted in ordered
    )
    return SectionTree(entries, dict(sorted(sources.items())))


def page_of(tree: SectionTree, cursor: str, manifest: Manifest) -> SectionOutcome:
    """Return one page.

    Args:
        tree: All sections.
        cursor: ``next_cursor`` of the page before; empty for the first.
        manifest: Of the build the tree was read from.

    Raises:
        BadRequestError: The cursor is not one of this build's.
    """
    start = _start(cursor, manifest.build)
    end = start + _PAGE_SIZE
    return SectionOutcome(
        sections=tree.sections[start:end],
        sources=tree.sources,
        next_cursor=f"{manifest.build}:{end}" if end < len(tree.sections) else "",
        manifest=manifest,
    )


def _start(cursor: str, build: str) -> int:
    if not cursor:
        return 0
    name, _, place = cursor.rpartition(":")
    if name != build or not place.isascii() or not place.isdigit():
        raise BadRequestError(
            "the cursor belongs to another index build; start from the first page"
        )
    return int(place)
