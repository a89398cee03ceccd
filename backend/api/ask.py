"""``POST /ask`` and the records of what was asked."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Body, Depends, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import JsonValue

from backend.api.examples import ASK_EXAMPLES, problem_responses
from backend.api.stream import stream_events
from backend.asking.replay import Replay, ReplayAgainst
from backend.caller import Caller
from backend.contract import AskRequest, AskResponse
from backend.events import StageEvent
from backend.services import Services, identify
from storage.asks import AskRecord

router = APIRouter(tags=["ask"])

_EVENT_STREAM = "text/event-stream"


def get_services(request: Request) -> Services:
    """Return the services of this application."""
    services: Services = request.app.state.services
    return services


ServicesHere = Annotated[Services, Depends(get_services)]
CallerHere = Annotated[Caller, Depends(identify)]


@router.post(
    "/ask",
    response_model=AskResponse,
    responses={
        200: {
            "description": "An answer or a refusal; with `Accept: text/event-stream`, its stages.",
            "content": {_EVENT_STREAM: {"schema": {"type": "string"}}},
        },
        **problem_responses(401, 403, 413, 422, 502, 503, 504),
    },
)
async def ask(
    request: Request,
    services: ServicesHere,
    caller: CallerHere,
    body: Annotated[AskRequest, Body(openapi_examples=ASK_EXAMPLES)],
) -> Response:
    """Answer a question from the documentation, or refuse with the fixed sentence.

    A refusal is a normal response. With ``Accept: text/event-stream`` the stages of the ask are
    sent as they are reached; nothing of an answer is among them before the verdict.
    """
    if _EVENT_STREAM not in request.headers.get("accept", ""):
        response = await services.asker.answer(body, caller)
        return JSONResponse(response.model_dump(mode="json", by_alias=True))
    events = services.asker.ask(body, caller)
    # The first stage is awaited here: what fails before it still has a status of its own.
    first = await anext(events)
    return StreamingResponse(
        _closing(first, events),
        media_type=_EVENT_STREAM,
        headers={"cache-control": "no-cache", "x-accel-buffering": "no"},
    )


@router.get("/asks/{ask_id}", responses=problem_responses(401, 403, 404, 503))
async def get_ask(ask_id: str, services: ServicesHere, caller: CallerHere) -> AskResponse:
    """Return a recorded answer exactly as it was given."""
    record = await services.recorder.find(ask_id, caller)
    return AskResponse.model_validate(record.response)


@router.get("/asks/{ask_id}/record", responses=problem_responses(401, 403, 404, 503))
async def get_record(
    ask_id: str, services: ServicesHere, caller: CallerHere
) -> dict[str, JsonValue]:
    """Return the whole record: raw text, evidence, tool calls, audit, prompt and versions."""
    record = await services.recorder.find(ask_id, caller)
    return AskRecord.model_dump(record, mode="json")


@router.post("/asks/{ask_id}/replay", responses=problem_responses(401, 403, 404, 422, 503))
async def replay_ask(
    ask_id: str, services: ServicesHere, caller: CallerHere, against: ReplayAgainst = "recorded"
) -> Replay:
    """Search and judge a recorded question again, and say what is different.

    With ``against=recorded`` the build and the rule of the record are used as far as they still
    exist, with ``against=present`` those in force.
    """
    record = await services.recorder.find(ask_id, caller)
    return await services.replayer.replay(record, against)


async def _closing(first: StageEvent, events: AsyncGenerator[StageEvent]) -> AsyncIterator[bytes]:
    try:
        async for piece in stream_events(first, events):
            yield piece
    finally:
        await events.aclose()
