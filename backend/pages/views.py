"""Gathers what the page of an answer shows beside the response itself."""

from __future__ import annotations

from fastapi import Request

from backend.contract import AskResponse
from backend.pages.context import Pages
from backend.pages.view import AnswerView, Turn, view_answer


async def view_for(pages: Pages, request: Request, response: AskResponse) -> AnswerView:
    """Return one answer as its page shows it, with the labelled questions and earlier turns."""
    turns = [
        Turn(record.id, record.question, record.answer, record.status)
        for record in await pages.services.earlier_turns(response, request)
    ]
    spread = await pages.services.spread()
    return view_answer(response, str(request.base_url), spread, turns)
