"""A passage where it stands: with the passages before and after it in its document."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from backend.pages.context import PagesHere
from backend.rendering import local_path, safe_link
from knowledge.contracts import Source

router = APIRouter(include_in_schema=False)

_REACH = 3
_SHORTEST_OVERLAP_CHARACTERS = 12

ReadPassage = Callable[[str], Awaitable[Source]]


@dataclass(frozen=True, slots=True)
class ContextPart:
    """One passage as it is shown in its document.

    Attributes:
        text: Without the words that the passage before already ended with.
        heading: Empty when it is the heading of the passage before.
    """

    chunk_id: str
    text: str
    heading: str
    is_asked_for: bool


@dataclass(frozen=True, slots=True)
class SourceContext:
    """A stretch of a document around one passage.

    Attributes:
        link: Address of the original, empty when it is nothing to click on.
        place: What is shown of an address that is no link: a local file's source and path.
    """

    here: Source
    parts: tuple[ContextPart, ...]
    earlier: str | None
    later: str | None
    link: str
    place: str


@router.get("/sources/{chunk_id}")
async def show_source(request: Request, pages: PagesHere, chunk_id: str) -> HTMLResponse:
    """Show a passage in its document."""

    async def read(wanted: str) -> Source:
        return await pages.services.passage(wanted, request)

    context = await read_context(read, chunk_id)
    return pages.templates.respond("source.html", context=context)


async def read_context(read: ReadPassage, chunk_id: str) -> SourceContext:
    """Read a passage and a few on either side.

    Args:
        read: Reads one passage.
        chunk_id: The one that was asked for.

    Raises:
        KnowledgeError: A passage cannot be read.
    """
    here = await read(chunk_id)
    before: list[Source] = []
    after: list[Source] = []
    edge = here
    while edge.previous_chunk_id and len(before) < _REACH:
        edge = await read(edge.previous_chunk_id)
        before.insert(0, edge)
    earlier = edge.previous_chunk_id
    edge = here
    while edge.next_chunk_id and len(after) < _REACH:
        edge = await read(edge.next_chunk_id)
        after.append(edge)
    return SourceContext(
        here=here,
        parts=tuple(arrange((*before, here, *after), chunk_id)),
        earlier=earlier,
        later=edge.next_chunk_id,
        link=safe_link(here.source_url),
        place=local_path(here.source_url) or here.source_url,
    )


def arrange(passages: Iterable[Source], chunk_id: str) -> Iterable[ContextPart]:
    """Yield passages as running text: no heading twice in a row, no overlap twice."""
    heading, text = "", ""
    for passage in passages:
        yield ContextPart(
            chunk_id=passage.chunk_id,
            text=passage.text[overlap(text, passage.text) :],
            heading="" if passage.section_heading == heading else passage.section_heading,
            is_asked_for=passage.chunk_id == chunk_id,
        )
        heading, text = passage.section_heading, passage.text


def overlap(before: str, after: str) -> int:
    """Return how many characters at the start of ``after`` already end ``before``."""
    for length in range(min(len(before), len(after)), _SHORTEST_OVERLAP_CHARACTERS - 1, -1):
        if before.endswith(after[:length]):
            return length
    return 0
