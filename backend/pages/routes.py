"""The pages: asking with and without script, an answer by its address, the glossary."""

from __future__ import annotations

from collections.abc import AsyncIterable
from contextlib import aclosing
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import HTMLResponse, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import ValidationError

from backend.contract import AskRequest, AskResponse
from backend.events import Done
from backend.pages import desk as pages_desk
from backend.pages import feedback as pages_feedback
from backend.pages import history as pages_history
from backend.pages import quality as pages_quality
from backend.pages import source as pages_source
from backend.pages import what_if as pages_what_if
from backend.pages.context import Pages, PagesHere
from backend.pages.ports import Holdings
from backend.pages.problem import render_problem, respond_problem
from backend.pages.questions import (
    FormProblem,
    QuestionForm,
    explain_refusal,
    propose_questions,
)
from backend.pages.stream import stream_fragments
from backend.pages.views import view_for
from backend.problems import Problem, describe_error, problem_headers
from knowledge.errors import KnowledgeError
from service.errors import VouchError
from service.logs import get_logger

router = APIRouter(include_in_schema=False)
router.include_router(pages_source.router)
router.include_router(pages_feedback.router)
router.include_router(pages_history.router)
router.include_router(pages_desk.router)
router.include_router(pages_quality.router)
router.include_router(pages_what_if.router)

_STATIC_CACHE = "public, max-age=31536000, immutable"
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


@router.get("/")
async def show_form(
    request: Request,
    pages: PagesHere,
    question: Annotated[str, Query(max_length=2000)] = "",
    source: Annotated[str, Query(max_length=200)] = "",
) -> HTMLResponse:
    """Show the question box."""
    return await _respond_ask(pages, request, QuestionForm(question=question, source=source))


@router.post("/")
async def ask(request: Request, pages: PagesHere, form: FormSent) -> HTMLResponse:
    """Ask and show the whole page: the way that needs no script."""
    body = _check(pages, form)
    if isinstance(body, FormProblem):
        return await _respond_ask(pages, request, form, problem=body)
    try:
        response = await _ask_to_the_end(pages, body, request)
    except VouchError as error:
        _log(error)
        return await _respond_ask(
            pages,
            request,
            form,
            problem=describe_error(error),
            headers=problem_headers(error),
        )
    return await _respond_ask(pages, request, form, response=response)


@router.post("/stream", response_class=EventSourceResponse)
async def ask_streaming(
    request: Request, pages: PagesHere, form: FormSent
) -> AsyncIterable[ServerSentEvent]:
    """Ask and send each stage as it is reached, each as a piece of the open page."""
    body = _check(pages, form)
    if isinstance(body, FormProblem):
        yield ServerSentEvent(raw_data=render_problem(pages.templates, body))
        return
    try:
        events = pages.services.ask(body, request)
        pieces = stream_fragments(pages.templates, events, partial(view_for, pages, request))
        async with aclosing(pieces):
            async for piece in pieces:
                yield ServerSentEvent(raw_data=piece)
    except VouchError as error:
        _log(error)
        piece = render_problem(pages.templates, describe_error(error), problem_headers(error))
        yield ServerSentEvent(raw_data=piece)
    except Exception:  # the edge of the process: the open page must hear of it
        _logger.exception("a page's stream broke")
        unknown = Problem(title="", status=500, code=VouchError.code)
        yield ServerSentEvent(raw_data=render_problem(pages.templates, unknown))


@router.get("/a/{ask_id}")
async def show_record(request: Request, pages: PagesHere, ask_id: str) -> HTMLResponse:
    """Show a recorded answer exactly as it was given."""
    try:
        response = await pages.services.find(ask_id, request)
    except VouchError as error:
        return respond_problem(
            pages.templates, request, describe_error(error), problem_headers(error)
        )
    if response is None:
        missing = Problem(title="", status=404, code="not_found")
        return respond_problem(pages.templates, request, missing)
    form = QuestionForm(question=response.question)
    return await _respond_ask(pages, request, form, response=response)


@router.get("/glossary")
async def show_glossary(pages: PagesHere) -> HTMLResponse:
    """Show every term with its explanation."""
    return pages.templates.respond("glossary.html")


@router.get("/static/{path:path}")
async def serve_static(request: Request, pages: PagesHere, path: str) -> Response:
    """Serve styles, scripts and pictures."""
    response = await pages.templates.static.get_response(path, request.scope)
    if "v" in request.query_params:
        response.headers["cache-control"] = _STATIC_CACHE
    return response


def _check(pages: Pages, form: QuestionForm) -> AskRequest | FormProblem:
    try:
        return form.check()
    except ValidationError as error:
        return explain_refusal(pages.templates.texts, error)


async def _ask_to_the_end(pages: Pages, body: AskRequest, request: Request) -> AskResponse:
    async with aclosing(pages.services.ask(body, request)) as events:
        async for event in events:
            if isinstance(event, Done):
                return event.response
    raise VouchError("the stages of an ask ended without an answer")


async def _respond_ask(
    pages: Pages,
    request: Request,
    form: QuestionForm,
    *,
    response: AskResponse | None = None,
    problem: FormProblem | Problem | None = None,
    headers: dict[str, str] | None = None,
) -> HTMLResponse:
    holdings = await _holdings(request, pages)
    extra = dict(headers or {})
    if response is not None:
        extra["content-location"] = f"/a/{response.id}"
    problem_html = render_problem(pages.templates, problem, headers) if problem else ""
    return pages.templates.respond(
        "ask.html",
        status=problem.status if problem else 200,
        headers=extra,
        form=form,
        holdings=holdings,
        questions=propose_questions(pages.templates.texts, holdings or Holdings({})),
        view=await view_for(pages, request, response) if response else None,
        problem_html=problem_html,
    )


async def _holdings(request: Request, pages: Pages) -> Holdings | None:
    """Return what the index holds, or None: the form must show even when nothing else works."""
    try:
        return await pages.services.holdings(request)
    except KnowledgeError as error:
        _log(error)
        return None


def _log(error: VouchError) -> None:
    _logger.warning("page request failed", code=error.code, detail=str(error))
