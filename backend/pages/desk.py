"""The reviewer's desk: label a record, take the labelled ones along, see what is missing."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import BaseModel, Field

from backend.contract import AskResponse
from backend.desk.gaps import Gap, Refused, group
from backend.desk.labelled_set import FOLDER, ReviewLabel, to_archive
from backend.desk.what_if import (
    PastAsk,
    curve,
    rates,
    read_past,
    rejudge,
    threshold_of,
    with_threshold,
)
from backend.pages.chart import draw_rates
from backend.pages.context import Pages, PagesHere
from backend.pages.problem import respond_problem
from backend.problems import Problem
from backend.verdict.guard import FixedRule, Rule
from backend.verdict.thresholds import default_threshold
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


@router.get("/what-if")
async def show_what_if(
    request: Request,
    pages: PagesHere,
    threshold: Annotated[float | None, Query(ge=0.0, le=1.0)] = None,
    mode: Annotated[str, Query(pattern="^(|fixed|calibrated)$")] = "",
) -> HTMLResponse:
    """Show which recorded verdicts another threshold would turn, and the mistakes it makes."""
    past = await _past(request, pages)
    in_force = await pages.desk.rule()
    rule = _choose_rule(in_force, mode, past)
    chosen = threshold_of(rule) if threshold is None else threshold
    rejudged = rejudge(past, with_threshold(rule, chosen))
    labelled = [one for one in rejudged if one.ask.answerable is not None]
    return pages.templates.respond(
        "what_if.html",
        mode="fixed" if isinstance(rule, FixedRule) else "calibrated",
        has_calibration=not isinstance(in_force, FixedRule),
        in_force=threshold_of(rule),
        threshold=chosen,
        count=len(rejudged),
        labelled_count=len(labelled),
        flips=[one for one in rejudged if one.is_flipped],
        rates=rates(labelled, chosen),
        chart=draw_rates(curve(labelled), chosen) if labelled else None,
    )


def _choose_rule(in_force: Rule, mode: str, past: list[PastAsk]) -> Rule:
    """Return the rule to vary: the one in force, or the fixed one beside a calibration."""
    if mode != "fixed" or isinstance(in_force, FixedRule):
        return in_force
    if in_force.floor_cosine is not None:
        return FixedRule(in_force.floor_cosine, is_default=False)
    model = past[0].searches[0][1].index.embedding_model if past else ""
    return FixedRule(default_threshold(model).cosine, is_default=True)


async def _past(request: Request, pages: Pages) -> list[PastAsk]:
    labels = {one.record.id: one.label.label for one in await pages.desk.labelled(request)}
    records = await pages.desk.recorded("", request)
    found = (read_past(record, labels.get(record.id, "")) for record in records)
    return [one for one in found if one is not None]


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
