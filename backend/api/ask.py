"""``POST /ask`` and the records of what was asked."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Body, Depends, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import JsonValue

from backend.api.examples import ASK_EXAMPLES, problem_responses
from backend.api.stream import stream_events
from backend.asking.queued import prefers_async
from backend.asking.queued_contract import FailedAsk, PendingAsk
from backend.asking.replay import Replay, ReplayAgainst
from backend.caller import Caller
from backend.contract import AskRequest, AskResponse
from backend.errors import UnknownAskError
from backend.events import StageEvent
from backend.services import Services, identify
from storage.asks import AskRecord

router = APIRouter(tags=["ask"])

_EVENT_STREAM = "text/event-stream"
_JSON = "application/json"
_LOOK_AGAIN_SECONDS = 1


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
        202: {
            "description": "With `Prefer: respond-async`: queued; `Location` is where to look.",
            "model": PendingAsk,
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
    sent as they are reached; nothing of an answer is among them before the verdict. With
    ``Prefer: respond-async`` the question is queued, and ``Location`` names its record.
    """
    wants_stages = _EVENT_STREAM in request.headers.get("accept", "")
    if not wants_stages and prefers_async(request.headers.get("prefer", "")):
        pending = await services.queued.asks.submit(body, caller)
        return _tell_pending(
            pending,
            {"location": f"/asks/{pending.id}", "preference-applied": "respond-async"},
        )
    if not wants_stages:
        response = await services.asker.answer(body, caller)
        # Written once, by the model itself: a second pass over ten kilobytes shows at this size.
        return Response(response.model_dump_json(by_alias=True), media_type=_JSON)
    events = services.asker.ask(body, caller)
    # The first stage is awaited here: what fails before it still has a status of its own.
    first = await anext(events)
    return StreamingResponse(
        _closing(first, events),
        media_type=_EVENT_STREAM,
        headers={"cache-control": "no-cache", "x-accel-buffering": "no"},
    )


@router.get(
    "/asks/{ask_id}",
    response_model=AskResponse | FailedAsk,
    responses={
        202: {"description": "Queued and not answered yet.", "model": PendingAsk},
        **problem_responses(401, 403, 404, 503),
    },
)
async def get_ask(ask_id: str, services: ServicesHere, caller: CallerHere) -> Response:
    """Return a recorded answer exactly as it was given.

    For a question asked with ``Prefer: respond-async``: 202 and ``"status": "pending"`` until it is
    answered; ``"status": "failed"`` with the problem when it could not be.
    """
    try:
        record = await services.recorder.find(ask_id, caller)
    except UnknownAskError:
        queued = await services.queued.asks.look(ask_id, caller)
        if isinstance(queued, PendingAsk):
            return _tell_pending(queued, {})
        if isinstance(queued, FailedAsk):
            return JSONResponse(queued.model_dump(mode="json", by_alias=True))
        # It may have been answered between the two looks.
        record = await services.recorder.find(ask_id, caller)
    response = AskResponse.model_validate(record.response)
    return JSONResponse(response.model_dump(mode="json", by_alias=True))


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


def _tell_pending(pending: PendingAsk, headers: dict[str, str]) -> Response:
    return JSONResponse(
        pending.model_dump(mode="json", by_alias=True),
        202,
        {"retry-after": str(_LOOK_AGAIN_SECONDS), **headers},
    )


async def _closing(first: StageEvent, events: AsyncGenerator[StageEvent]) -> AsyncIterator[bytes]:
    try:
        async for piece in stream_events(first, events):
            yield piece
    finally:
        await events.aclose()
