"""The pages: asking with and without script, an answer by its address, the glossary."""

from __future__ import annotations

from collections.abc import AsyncIterable
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent

from backend.contract import AskResponse
from backend.pages import desk as pages_desk
from backend.pages import feedback as pages_feedback
from backend.pages import history as pages_history
from backend.pages import quality as pages_quality
from backend.pages import source as pages_source
from backend.pages import what_if as pages_what_if
from backend.pages import widget as pages_widget
from backend.pages.asking import (
    FormSent,
    ask_to_the_end,
    check_form,
    note,
    stream_ask,
)
from backend.pages.context import Pages, PagesHere
from backend.pages.ports import Holdings
from backend.pages.problem import render_problem, respond_problem
from backend.pages.questions import (
    FormProblem,
    QuestionForm,
    propose_questions,
)
from backend.pages.views import view_for
from backend.problems import Problem, describe_error, problem_headers
from knowledge.errors import KnowledgeError
from service.errors import VouchError

router = APIRouter(include_in_schema=False)
router.include_router(pages_source.router)
router.include_router(pages_feedback.router)
router.include_router(pages_history.router)
router.include_router(pages_desk.router)
router.include_router(pages_quality.router)
router.include_router(pages_what_if.router)
router.include_router(pages_widget.router)

_STATIC_CACHE = "public, max-age=31536000, immutable"


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
    body = check_form(pages, form)
    if isinstance(body, FormProblem):
        return await _respond_ask(pages, request, form, problem=body)
    try:
        response = await ask_to_the_end(pages, body, request)
    except VouchError as error:
        note(error)
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
    async for piece in stream_ask(pages, request, form):
        yield piece


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
        note(error)
        return None
