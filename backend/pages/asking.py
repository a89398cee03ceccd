"""A question as a page sends it: the form, its check, and the answer whole or as a stream."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import Annotated

from fastapi import Depends, Form, Request
from fastapi.sse import ServerSentEvent
from pydantic import ValidationError

from backend.contract import AskRequest, AskResponse
from backend.events import Done
from backend.pages.context import Pages
from backend.pages.problem import render_problem
from backend.pages.questions import FormProblem, QuestionForm, explain_refusal
from backend.pages.stream import stream_fragments
from backend.pages.views import view_for
from backend.problems import Problem, describe_error, problem_headers
from service.errors import VouchError
from service.logs import get_logger

_logger = get_logger(__name__)


def read_form(
    question: Annotated[str, Form()] = "",
    source: Annotated[str, Form()] = "",
    top_k: Annotated[str, Form()] = "",
    conversation_id: Annotated[str, Form()] = "",
    search_question: Annotated[str, Form()] = "",
) -> QuestionForm:
    """Return the form as it was sent; it is checked later, to be refused in plain words."""
    return QuestionForm(question, source, top_k, conversation_id, search_question)


FormSent = Annotated[QuestionForm, Depends(read_form)]


def check_form(pages: Pages, form: QuestionForm) -> AskRequest | FormProblem:
    """Return what is asked, or in plain words why it cannot be."""
    try:
        return form.check()
    except ValidationError as error:
        return explain_refusal(pages.templates.texts, error)


async def ask_to_the_end(pages: Pages, body: AskRequest, request: Request) -> AskResponse:
    """Ask and return the whole response.

    Raises:
        VouchError: The ask failed.
    """
    async with aclosing(pages.services.ask(body, request)) as events:
        async for event in events:
            if isinstance(event, Done):
                return event.response
    raise VouchError("the stages of an ask ended without an answer")


async def stream_ask(
    pages: Pages, request: Request, form: QuestionForm, answer: str = "_answer.html"
) -> AsyncGenerator[ServerSentEvent]:
    """Yield each stage as it is reached, each as a piece of the open page.

    Args:
        pages: Services and templates.
        request: Of whoever asks.
        form: As it was sent.
        answer: Template of the last piece.
    """
    body = check_form(pages, form)
    if isinstance(body, FormProblem):
        yield ServerSentEvent(raw_data=render_problem(pages.templates, body))
        return
    try:
        events = pages.services.ask(body, request)
        pieces = stream_fragments(
            pages.templates, events, partial(view_for, pages, request), answer
        )
        async with aclosing(pieces):
            async for piece in pieces:
                yield ServerSentEvent(raw_data=piece)
    except VouchError as error:
        note(error)
        piece = render_problem(pages.templates, describe_error(error), problem_headers(error))
        yield ServerSentEvent(raw_data=piece)
    except Exception:  # the edge of the process: the open page must hear of it
        _logger.exception("a page's stream broke")
        unknown = Problem(title="", status=500, code=VouchError.code)
        yield ServerSentEvent(raw_data=render_problem(pages.templates, unknown))


def note(error: VouchError) -> None:
    """Log that a page could not be given."""
    _logger.warning("page request failed", code=error.code, detail=str(error))
