"""The stages of one ask as pieces of a page, each replacing the one before."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace

from backend.contract import AskResponse, GuardView
from backend.events import (
    AnswerDrafted,
    Condensed,
    Done,
    EvidenceFound,
    StageEvent,
    VerdictReached,
)
from backend.pages.templates import Templates
from backend.pages.view import AnswerView
from knowledge.contracts import SearchHit


@dataclass(frozen=True, slots=True)
class Progress:
    """What is known so far. Nothing of an answer is ever part of it.

    Attributes:
        search_question: Empty until it is settled.
        hits: None until the guard's search came back.
        guard: None until the evidence was judged.
        draft: None until the agent finished.
    """

    search_question: str = ""
    hits: tuple[SearchHit, ...] | None = None
    guard: GuardView | None = None
    draft: AnswerDrafted | None = None


def advance(progress: Progress, event: StageEvent) -> Progress:
    """Return the progress after an event."""
    match event:
        case Condensed(search_question=search_question):
            # Also when the index was replaced under the ask and all begins anew.
            return Progress(search_question=search_question)
        case EvidenceFound(hits=hits):
            return replace(progress, hits=hits)
        case VerdictReached(guard=guard):
            return replace(progress, guard=guard)
        case AnswerDrafted():
            return replace(progress, draft=event)
        case Done():
            return progress


async def stream_fragments(
    templates: Templates,
    events: AsyncGenerator[StageEvent],
    view_of: Callable[[AskResponse], Awaitable[AnswerView]],
    answer: str = "_answer.html",
) -> AsyncGenerator[str]:
    """Yield one piece of HTML for each stage, the last one being the whole answer.

    Args:
        templates: The page templates.
        events: The stages of one ask, in order.
        view_of: Arranges the response for its page.
        answer: Template of the last piece.
    """
    progress = Progress()
    yield templates.render("_progress.html", progress=progress)
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Done):
                view = await view_of(event.response)
                yield templates.render(answer, view=view)
                return
            progress = advance(progress, event)
            yield templates.render("_progress.html", progress=progress)
