"""A thumb under every answer, with a reason; it works without any script."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import BaseModel, Field

from backend.pages.context import PagesHere
from backend.pages.problem import respond_problem, wants_fragment
from backend.pages.templates import FEEDBACK_REASONS
from backend.problems import Problem

router = APIRouter(include_in_schema=False)

_SEE_OTHER = 303


class FeedbackForm(BaseModel):
    """The thumb as it was given; an unknown reason counts as none."""

    thumb: Literal["up", "down"]
    reason: str = Field(default="", max_length=40)
    comment: str = Field(default="", max_length=2000)


@router.post("/a/{ask_id}/feedback")
async def give_feedback(
    request: Request, pages: PagesHere, ask_id: str, form: Annotated[FeedbackForm, Form()]
) -> Response:
    """Keep what somebody thought of an answer."""
    kept = await pages.services.keep_feedback(
        ask_id,
        thumb=form.thumb,
        reason=form.reason if form.reason in FEEDBACK_REASONS else "",
        comment=form.comment.strip(),
        request=request,
    )
    if not kept:
        missing = Problem(title="No such record", status=404, code="not_found")
        return respond_problem(pages.templates, request, missing)
    if wants_fragment(request):
        return pages.templates.respond("_feedback_kept.html")
    return RedirectResponse(f"/a/{ask_id}", _SEE_OTHER)
