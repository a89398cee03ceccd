"""The page of the documents: sources, uploads, jobs as they run, builds. Plain forms throughout."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterable
from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, File, Form, Request, UploadFile
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent

from backend.api.ask import CallerHere
from backend.api.ingestion import DeskHere
from backend.edge.admin import COOKIE, AdminOnly, AdminRule
from backend.errors import AdminRequiredError
from backend.intake.contract import FolderBody, JobDetail, UrlBody
from backend.pages.context import Pages, PagesHere
from storage.jobs import ACTIVE

router = APIRouter(include_in_schema=False)

_SEE_OTHER = 303
_SHOWN_JOBS = 10
_LONGEST_STREAM_SECONDS = 120.0
_WRONG_KEY_SECONDS = 1.0


@router.get("/ingest")
async def show_ingest(request: Request, pages: PagesHere, desk: DeskHere) -> HTMLResponse:
    """Show what the index holds, what is being read, and what can be put in force."""
    rule: AdminRule = request.app.state.admin
    try:
        rule.require(request)
    except AdminRequiredError:
        if not rule.has_token:
            raise
        return pages.templates.respond("ingest_key.html", status=401, is_wrong=False)
    builds = await desk.builds()
    return pages.templates.respond(
        "ingest.html",
        sources=await desk.sources(),
        builds=builds,
        has_older=any(not build.is_current for build in builds),
        profiles=await desk.profiles(),
        jobs=_jobs_html(pages, await desk.newest(_SHOWN_JOBS)),
    )


@router.post("/ingest/key")
async def enter_key(
    request: Request, pages: PagesHere, key: Annotated[str, Form(max_length=500)]
) -> Response:
    """Take the admin key and let the browser keep proof of it."""
    rule: AdminRule = request.app.state.admin
    if not rule.accepts(key.strip()):
        await asyncio.sleep(_WRONG_KEY_SECONDS)  # who guesses gets one try a second
        return pages.templates.respond("ingest_key.html", status=401, is_wrong=True)
    response = RedirectResponse("/ingest", _SEE_OTHER)
    response.set_cookie(
        COOKIE, rule.cookie(), httponly=True, samesite="strict",
        secure=request.url.scheme == "https",
    )  # fmt: skip
    return response


@router.get("/ingest/live", response_class=EventSourceResponse)
async def follow_jobs(
    pages: PagesHere, desk: DeskHere, _: AdminOnly
) -> AsyncIterable[ServerSentEvent]:
    """Send the list of jobs whenever one changed, each time as a piece of the open page."""
    started = time.monotonic()
    async with aclosing(desk.watch_newest(_SHOWN_JOBS)) as watching:
        async for jobs in watching:
            is_last = time.monotonic() - started > _LONGEST_STREAM_SECONDS
            yield ServerSentEvent(raw_data=_jobs_html(pages, jobs, again=is_last))
            if is_last:
                return


@router.post("/ingest/upload")
async def upload(
    desk: DeskHere,
    caller: CallerHere,
    _: AdminOnly,
    *,
    files: Annotated[list[UploadFile], File()],
    source: Annotated[str, Form(max_length=100)] = "uploads",
    profile: Annotated[str, Form(max_length=100)] = "default",
) -> Response:
    """Keep the files and have them read."""
    await desk.order_upload(source.strip() or "uploads", files, profile, caller.name)
    return _back()


@router.post("/ingest/order")
async def order(
    desk: DeskHere,
    caller: CallerHere,
    _: AdminOnly,
    place: Annotated[str, Form(min_length=1, max_length=4096)],
    profile: Annotated[str, Form(max_length=100)] = "default",
) -> Response:
    """Have a folder or an address read."""
    if "://" in place:
        await desk.order_url(UrlBody(url=place.strip(), profile=profile), caller.name)
    else:
        body = FolderBody(folder_path=place.strip(), profile=profile)
        await desk.order_folder(body, caller.name)
    return _back()


@router.post("/ingest/remove")
async def remove(
    desk: DeskHere, caller: CallerHere, _: AdminOnly, source: Annotated[str, Form(max_length=500)]
) -> Response:
    """Have a source left out of the index."""
    await desk.order_removal(source, caller.name)
    return _back()


@router.post("/ingest/jobs/{job_id}/cancel")
async def cancel(job_id: str, desk: DeskHere, _: AdminOnly) -> Response:
    """Ask for the end of a job."""
    await desk.cancel(job_id)
    return _back()


@router.post("/ingest/jobs/{job_id}/retry")
async def retry(job_id: str, desk: DeskHere, _: AdminOnly) -> Response:
    """Begin a job anew."""
    await desk.retry(job_id)
    return _back()


@router.post("/ingest/builds/rollback")
async def roll_back(desk: DeskHere, caller: CallerHere, _: AdminOnly) -> Response:
    """Have the build before the one in force put back."""
    await desk.order_rollback(caller.name)
    return _back()


@router.post("/ingest/builds/{build}/publish")
async def publish(build: str, desk: DeskHere, caller: CallerHere, _: AdminOnly) -> Response:
    """Have a build put in force."""
    await desk.order_publish(build, caller.name)
    return _back()


def _jobs_html(pages: Pages, jobs: list[JobDetail], *, again: bool = False) -> str:
    is_active = any(job.state in ACTIVE for job in jobs)
    return pages.templates.render(
        "_ingest_jobs.html", jobs=jobs, is_active=is_active, again=again and is_active
    )


def _back() -> Response:
    return RedirectResponse("/ingest", _SEE_OTHER)
