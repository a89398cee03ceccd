"""A passage where it stands: in its whole document, or in as much of a long one as is readable."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from backend.pages.context import PagesHere
from backend.pages.passage import show_passage
from backend.rendering import local_path, safe_link
from knowledge.contracts import Source

router = APIRouter(include_in_schema=False)

REACH = 40  # passages on either side, which holds all but the longest documents
_SHORTEST_OVERLAP_CHARACTERS = 12

ReadPassage = Callable[[str], Awaitable[Source]]


@dataclass(frozen=True, slots=True)
class ContextPart:
    """One passage as it is shown in its document.

    Attributes:
        number: Place on the page, from 1.
        text: Without the words that the passage before already ended with.
        heading: Empty when it is the heading of the passage before.
    """

    chunk_id: str
    number: int
    text: Markup
    heading: str
    is_asked_for: bool


@dataclass(frozen=True, slots=True)
class SourceContext:
    """A document around one passage.

    Attributes:
        earlier: Passage to read on from before the first part; None at the beginning.
        later: Likewise after the last part.
        link: Address of the original, empty when it is nothing to click on.
        place: What is shown of an address that is no link: a local file's source and path.
    """

    here: Source
    parts: tuple[ContextPart, ...]
    earlier: str | None
    later: str | None
    link: str
    place: str

    @property
    def headings(self) -> tuple[tuple[int, str], ...]:
        """Number and heading of every part that begins a section."""
        return tuple((part.number, part.heading) for part in self.parts if part.heading)


@router.get("/sources/{chunk_id}")
async def show_source(request: Request, pages: PagesHere, chunk_id: str) -> HTMLResponse:
    """Show a passage in its document."""

    async def read(wanted: str) -> Source:
        return await pages.services.passage(wanted, request)

    context = await read_context(read, chunk_id)
    return pages.templates.respond("source.html", context=context)


async def read_context(read: ReadPassage, chunk_id: str, reach: int = REACH) -> SourceContext:
    """Read a passage and its document on either side.

    Args:
        read: Reads one passage.
        chunk_id: The one that was asked for.
        reach: At most this many passages on either side.

    Raises:
        KnowledgeError: A passage cannot be read.
    """
    here = await read(chunk_id)
    before, after = await asyncio.gather(
        _walk(read, here, lambda passage: passage.previous_chunk_id, reach),
        _walk(read, here, lambda passage: passage.next_chunk_id, reach),
    )
    document = (*before[::-1], here, *after)
    return SourceContext(
        here=here,
        parts=tuple(arrange(document, chunk_id)),
        earlier=document[0].previous_chunk_id,
        later=document[-1].next_chunk_id,
        link=safe_link(here.source_url),
        place=local_path(here.source_url) or here.source_url,
    )


async def _walk(
    read: ReadPassage, start: Source, following: Callable[[Source], str | None], reach: int
) -> list[Source]:
    """Return the passages that follow one another from a passage on, without it."""
    walked: list[Source] = []
    wanted = following(start)
    while wanted and len(walked) < reach:
        walked.append(await read(wanted))
        wanted = following(walked[-1])
    return walked


def arrange(passages: Iterable[Source], chunk_id: str) -> Iterable[ContextPart]:
    """Yield passages as running text: no heading twice in a row, no overlap twice."""
    heading, text = "", ""
    for number, passage in enumerate(passages, start=1):
        yield ContextPart(
            chunk_id=passage.chunk_id,
            number=number,
            text=show_passage(passage.text[overlap(text, passage.text) :]),
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
