"""``/v1``: the door for tools that speak chat completions, with the same guard in force."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response, StreamingResponse

from backend.api.ask import CallerHere, ServicesHere
from backend.api.completions_form import stream_completion, to_completion
from backend.api.completions_wire import MODEL, Completion, CompletionRequest, Model, ModelList
from backend.api.examples import problem_responses
from backend.errors import UnknownModelError
from backend.events import StageEvent

router = APIRouter(prefix="/v1", tags=["chat completions"])

_EVENT_STREAM = "text/event-stream"


@router.get("/models")
async def list_models() -> ModelList:
    """List the one model there is."""
    return ModelList()


@router.get("/models/{name}", responses=problem_responses(404))
async def get_model(name: str) -> Model:
    """Return the model of this name."""
    _check_model(name)
    return Model()


@router.post(
    "/chat/completions",
    response_model=Completion,
    responses={
        200: {
            "description": "An answer or a refusal; with `stream`, its chunks.",
            "content": {_EVENT_STREAM: {"schema": {"type": "string"}}},
        },
        **problem_responses(403, 404, 413, 422, 502, 503, 504),
    },
)
async def complete(services: ServicesHere, caller: CallerHere, body: CompletionRequest) -> Response:
    """Answer the last user message from the documentation, or refuse with the fixed sentence.

    Citations are Markdown footnotes in the content and annotations beside it; the field ``vouch``
    holds the verdict and the id of the record.
    """
    _check_model(body.model)
    if not body.stream:
        response = await services.asker.answer(body.to_ask(), caller)
        return JSONResponse(to_completion(response).model_dump(mode="json"))
    events = services.asker.ask(body.to_ask(), caller)
    # The first stage is awaited here: what fails before it still has a status of its own.
    first = await anext(events)
    has_usage = body.stream_options is not None and body.stream_options.include_usage
    return StreamingResponse(
        _closing(first, events, has_usage=has_usage),
        media_type=_EVENT_STREAM,
        headers={"cache-control": "no-cache", "x-accel-buffering": "no"},
    )


def _check_model(name: str) -> None:
    if name != MODEL:
        raise UnknownModelError(f"there is no model {name!r} here; the only one is {MODEL!r}")


async def _closing(
    first: StageEvent, events: AsyncGenerator[StageEvent], *, has_usage: bool
) -> AsyncIterator[bytes]:
    try:
        async for piece in stream_completion(first, events, has_usage=has_usage):
            yield piece
    finally:
        await events.aclose()
