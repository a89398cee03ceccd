"""Orders for the index over HTTP: what to read, what to put in force, and how the jobs are."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Annotated

from fastapi import APIRouter, Depends, File, Form, Query, Request, Response, UploadFile
from fastapi.responses import StreamingResponse

from backend.api.ask import CallerHere
from backend.api.examples import problem_responses
from backend.edge.admin import require_admin
from backend.intake.contract import (
    Accepted,
    BuildView,
    FileBody,
    FilesBody,
    FolderBody,
    JobDetail,
    JobView,
    SourceView,
    UrlBody,
)
from backend.intake.desk import IngestionDesk

PREFIX = "/api/v1/ingestion"
_PROBLEMS = problem_responses(401, 403, 404, 409, 413, 422, 503)

router = APIRouter(
    prefix=PREFIX, tags=["ingestion"], dependencies=[Depends(require_admin)], responses=_PROBLEMS
)


def get_desk(request: Request) -> IngestionDesk:
    """Return the desk of this application."""
    return IngestionDesk(request.app.state.services.database, request.app.state.desk_rules)


DeskHere = Annotated[IngestionDesk, Depends(get_desk)]


@router.post("/file", status_code=202)
async def ingest_file(
    body: FileBody, desk: DeskHere, caller: CallerHere, response: Response
) -> Accepted:
    """Read one file under the folders that may be read."""
    return _located(response, await desk.order_files(body, caller.name))


@router.post("/files", status_code=202)
async def ingest_files(
    body: FilesBody, desk: DeskHere, caller: CallerHere, response: Response
) -> Accepted:
    """Read several files."""
    return _located(response, await desk.order_files(body, caller.name))


@router.post("/folder", status_code=202)
async def ingest_folder(
    body: FolderBody, desk: DeskHere, caller: CallerHere, response: Response
) -> Accepted:
    """Read a folder."""
    return _located(response, await desk.order_folder(body, caller.name))


@router.post("/url", status_code=202)
async def ingest_url(
    body: UrlBody, desk: DeskHere, caller: CallerHere, response: Response
) -> Accepted:
    """Read a page, a sitemap, or an index for language models."""
    return _located(response, await desk.order_url(body, caller.name))


@router.post("/upload", status_code=202)
async def ingest_upload(
    desk: DeskHere,
    caller: CallerHere,
    response: Response,
    *,
    files: Annotated[list[UploadFile], File()],
    source: Annotated[str, Form(max_length=100)] = "uploads",
    profile: Annotated[str, Form(max_length=100)] = "default",
) -> Accepted:
    """Keep files and read them; a file of the same name in the same source is replaced."""
    return _located(response, await desk.order_upload(source, files, profile, caller.name))


@router.get("/jobs")
async def list_jobs(desk: DeskHere) -> list[JobView]:
    """List the newest jobs."""
    return await desk.jobs()


@router.get("/jobs/{job_id}")
async def get_job(job_id: str, desk: DeskHere) -> JobDetail:
    """Return a job with the state of each of its documents."""
    return await desk.job(job_id)


@router.get("/jobs/{job_id}/events", response_class=StreamingResponse)
async def watch_job(job_id: str, desk: DeskHere) -> StreamingResponse:
    """Send the job as a server-sent event named ``job`` whenever it changes, until it ends."""
    watching = desk.watch(job_id)
    # The first one is awaited here: an unknown job still has a status of its own.
    first = await anext(watching)
    return StreamingResponse(
        _events(first, watching),
        media_type="text/event-stream",
        headers={"cache-control": "no-cache", "x-accel-buffering": "no"},
    )


@router.post("/jobs/{job_id}/cancel", status_code=202)
async def cancel_job(job_id: str, desk: DeskHere) -> JobView:
    """Ask for the end of a job; nothing of it becomes visible."""
    return await desk.cancel(job_id)


@router.post("/jobs/{job_id}/retry", status_code=202)
async def retry_job(job_id: str, desk: DeskHere) -> JobView:
    """Begin a failed or cancelled job anew; what was embedded is not embedded again."""
    return await desk.retry(job_id)


@router.get("/sources")
async def list_sources(desk: DeskHere) -> list[SourceView]:
    """List the sources of the build in force."""
    return await desk.sources()


@router.delete("/sources/{name:path}", status_code=202)
async def remove_source(
    name: str, desk: DeskHere, caller: CallerHere, response: Response
) -> Accepted:
    """Leave a source out of the index."""
    return _located(response, await desk.order_removal(name, caller.name))


@router.get("/profiles")
async def list_profiles(desk: DeskHere) -> list[str]:
    """List the ingestion profiles that workers know."""
    return await desk.profiles()


@router.get("/builds")
async def list_builds(desk: DeskHere) -> list[BuildView]:
    """List the complete builds."""
    return await desk.builds()


@router.post("/builds/rollback", status_code=202)
async def roll_back(desk: DeskHere, caller: CallerHere, response: Response) -> Accepted:
    """Put the build before the one in force back in force."""
    return _located(response, await desk.order_rollback(caller.name))


@router.post("/builds/gc", status_code=202)
async def clean_up(
    desk: DeskHere,
    caller: CallerHere,
    response: Response,
    keep: Annotated[int, Query(ge=1, le=1000)] = 3,
) -> Accepted:
    """Remove builds beyond the newest ones."""
    return _located(response, await desk.order_cleaning(keep, caller.name))


@router.post("/builds/{build}/publish", status_code=202)
async def publish_build(
    build: str, desk: DeskHere, caller: CallerHere, response: Response
) -> Accepted:
    """Put a build in force."""
    return _located(response, await desk.order_publish(build, caller.name))


def _located(response: Response, accepted: Accepted) -> Accepted:
    response.headers["location"] = accepted.location
    return accepted


async def _events(
    first: JobDetail | None, watching: AsyncGenerator[JobDetail | None]
) -> AsyncGenerator[bytes]:
    try:
        yield _event(first)
        async for detail in watching:
            yield _event(detail)
    finally:
        await watching.aclose()


def _event(detail: JobDetail | None) -> bytes:
    if detail is None:
        return b": alive\n\n"
    return f"event: job\ndata: {detail.model_dump_json()}\n\n".encode()
