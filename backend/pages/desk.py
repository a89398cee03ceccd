"""The reviewer's desk: label a record, take the labelled ones along, see what is missing."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import BaseModel, Field

from backend.contract import AskResponse
from backend.desk.gaps import Gap, Refused, group
from backend.desk.labelled_set import FOLDER, ReviewLabel, to_archive
from backend.pages.context import Pages, PagesHere
from backend.pages.problem import respond_problem
from backend.problems import Problem
from storage.asks import AskRecord

router = APIRouter(include_in_schema=False)

_SEE_OTHER = 303
# Refusals that say the documentation lacks something, not that a draft was bad.
_GAP_REASONS = frozenset({"no_hits", "weak_evidence", "agent_refused", "insufficient_evidence"})


class LabelForm(BaseModel):
    """A reviewer's decision."""

    label: ReviewLabel
    comment: str = Field(default="", max_length=2000)


@router.post("/history/{ask_id}/label")
async def label(
    request: Request, pages: PagesHere, ask_id: str, form: Annotated[LabelForm, Form()]
) -> Response:
    """Keep a label and show the record again."""
    kept = await pages.desk.keep_label(
        ask_id, label=form.label, comment=form.comment.strip(), request=request
    )
    if not kept:
        missing = Problem(title="No such record", status=404, code="not_found")
        return respond_problem(pages.templates, request, missing)
    return RedirectResponse(f"/history/{ask_id}#label", _SEE_OTHER)


@router.get("/labelled.zip")
async def export_labelled(request: Request, pages: PagesHere) -> Response:
    """Return the labelled records as a set for evaluations and calibrations."""
    archive = to_archive(await pages.desk.labelled(request))
    disposition = f'attachment; filename="{FOLDER}.zip"'
    return Response(
        archive, media_type="application/zip", headers={"content-disposition": disposition}
    )


@router.get("/gaps")
async def show_gaps(request: Request, pages: PagesHere) -> HTMLResponse:
    """Show what was asked for and is not in the documentation, by topic."""
    return pages.templates.respond("gaps.html", gaps=await _find_gaps(request, pages))


@router.get("/gaps.jsonl")
async def export_gaps(request: Request, pages: PagesHere) -> Response:
    """Return the topics as JSON lines."""
    lines = [
        json.dumps(
            {
                "heading": gap.heading,
                "count": len(gap.questions),
                "nearest_section": gap.nearest.nearest,
                "cosine": gap.nearest.cosine,
                "questions": [one.question for one in gap.questions],
                "ask_ids": [one.ask_id for one in gap.questions],
            },
            ensure_ascii=False,
        )
        for gap in await _find_gaps(request, pages)
    ]
    headers = {"content-disposition": 'attachment; filename="gaps.jsonl"'}
    body = "".join(f"{line}\n" for line in lines)
    return Response(body, media_type="application/x-ndjson", headers=headers)


async def _find_gaps(request: Request, pages: Pages) -> list[Gap]:
    records = await pages.desk.recorded("abstained", request)
    refused = [_refused(record) for record in records if record.reason in _GAP_REASONS]
    if not refused:
        return []
    vectors = await pages.desk.embed([one.question for one in refused])
    return await asyncio.to_thread(group, refused, vectors)


def _refused(record: AskRecord) -> Refused:
    chunks = AskResponse.model_validate(record.response).retrieved_chunks
    nearest = max(chunks, key=lambda chunk: chunk.cosine, default=None)
    if nearest is None:
        return Refused(record.id, record.search_question)
    heading = nearest.section_heading or nearest.title
    return Refused(record.id, record.search_question, heading, nearest.chunk_id, nearest.cosine)
