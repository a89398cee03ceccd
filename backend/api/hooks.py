"""``POST /hooks/{source}``: a signed word that a known source has changed."""

from __future__ import annotations

import time

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from backend.api.ask import ServicesHere
from backend.intake.hooks import HookRules, Hooks, check_signature, is_change
from storage.index_view import IndexView
from storage.jobs import JobStore

PREFIX = "/hooks"
router = APIRouter(prefix=PREFIX, tags=["ingestion"])


@router.post(
    "/{source:path}",
    status_code=202,
    responses={
        200: {"description": "An event that changes no document."},
        401: {"description": "The signature is missing, wrong or too old."},
        404: {"description": "No job ever read a source of this name."},
    },
)
async def take_hook(source: str, request: Request, services: ServicesHere) -> Response:
    """Order a known source to be read again; the body is never read for anything but its signature.

    Signed as ``X-Vouch-Signature`` over ``TIMESTAMP.BODY``, or as ``X-Hub-Signature-256``.
    """
    rules: HookRules = request.app.state.hook_rules
    headers = dict(request.headers)
    signature = check_signature(headers, await request.body(), rules, now=time.time())
    if not is_change(headers):
        return JSONResponse({"status": "ignored"})
    database = services.database
    job_id = await Hooks(IndexView(database), JobStore(database)).order(source, signature)
    return JSONResponse({"status": "queued", "job_id": job_id}, 202)
