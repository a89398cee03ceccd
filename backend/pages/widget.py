"""Vouch inside the pages of others: one script tag that puts a frame of this service there.

Which pages may show the frame is a list of origins that the browser itself holds them to. The frame
is a page of this service with its own policy; the page around it sees nothing but its height.
"""

from __future__ import annotations

from collections.abc import AsyncIterable
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from fastapi.sse import EventSourceResponse, ServerSentEvent

from backend.contract import AskResponse
from backend.pages.asking import FormSent, ask_to_the_end, check_form, note, stream_ask
from backend.pages.context import Pages, PagesHere
from backend.pages.problem import render_problem, respond_problem
from backend.pages.questions import FormProblem, QuestionForm
from backend.pages.templates import policy
from backend.pages.views import view_for
from backend.problems import Problem, describe_error, problem_headers
from service.errors import VouchError

router = APIRouter(include_in_schema=False)

PREFIX = "/widget"
_ANSWER = "_widget_answer.html"
_HOUR_CACHE = "public, max-age=3600"

Theme = Annotated[Literal["", "light", "dark"], Query()]


@router.get(f"{PREFIX}.js")
async def serve_loader(request: Request, pages: PagesHere) -> Response:
    """Serve the script that puts the frame into a page."""
    if not pages.framed_by:
        return _respond_off(request, pages)
    return Response(
        pages.templates.render("widget.js"),
        media_type="text/javascript",
        headers={"cache-control": _HOUR_CACHE, "x-content-type-options": "nosniff"},
    )


@router.get(PREFIX)
async def show_widget(
    request: Request,
    pages: PagesHere,
    theme: Theme = "",
    source: Annotated[str, Query(max_length=200)] = "",
    question: Annotated[str, Query(max_length=2000)] = "",
) -> Response:
    """Show the frame: a question box, and nothing else of this service."""
    form = QuestionForm(question=question, source=source)
    return await _respond(request, pages, form, theme)


@router.post(PREFIX)
async def ask_in_widget(
    request: Request, pages: PagesHere, form: FormSent, theme: Theme = ""
) -> Response:
    """Ask and show the whole frame: the way that needs no script."""
    body = check_form(pages, form)
    if isinstance(body, FormProblem):
        return await _respond(request, pages, form, theme, problem=body)
    try:
        response = await ask_to_the_end(pages, body, request)
    except VouchError as error:
        note(error)
        return await _respond(request, pages, form, theme, problem=error)
    return await _respond(request, pages, form, theme, response=response)


@router.post(f"{PREFIX}/stream", response_class=EventSourceResponse)
async def stream_in_widget(
    request: Request, pages: PagesHere, form: FormSent
) -> AsyncIterable[ServerSentEvent]:
    """Ask and send each stage as it is reached, each as a piece of the open frame."""
    async for piece in stream_ask(pages, request, form, _ANSWER):
        yield piece


async def _respond(
    request: Request,
    pages: Pages,
    form: QuestionForm,
    theme: str,
    *,
    response: AskResponse | None = None,
    problem: FormProblem | VouchError | None = None,
) -> Response:
    if not pages.framed_by:
        return _respond_off(request, pages)
    described = describe_error(problem) if isinstance(problem, VouchError) else problem
    headers = problem_headers(problem) if isinstance(problem, VouchError) else {}
    return pages.templates.respond(
        "widget.html",
        status=described.status if described else 200,
        headers={**headers, "content-security-policy": policy(pages.framed_by)},
        form=form,
        theme=theme,
        view=await view_for(pages, request, response) if response else None,
        problem_html=render_problem(pages.templates, described, headers) if described else "",
    )


def _respond_off(request: Request, pages: Pages) -> Response:
    off = Problem(title="The widget is not offered here", status=404, code="widget_off")
    return respond_problem(pages.templates, request, off)
