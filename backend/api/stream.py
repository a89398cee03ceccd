"""Stage events as server-sent events."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator

from pydantic import JsonValue

from backend.events import (
    AnswerDrafted,
    Condensed,
    Done,
    EvidenceFound,
    StageEvent,
    VerdictReached,
)
from backend.problems import Problem, describe_error
from service.errors import VouchError
from service.logs import get_logger

_logger = get_logger(__name__)


async def stream_events(
    first: StageEvent, rest: AsyncIterator[StageEvent]
) -> AsyncGenerator[bytes]:
    """Yield each stage as one event; an error becomes a last event named ``problem``.

    Args:
        first: The first stage, taken before the response began so that its errors have a status.
        rest: The stages after it.
    """
    yield encode_event(first)
    try:
        async for event in rest:
            yield encode_event(event)
    except VouchError as error:
        yield _encode("problem", describe_error(error).model_dump(mode="json"))
    except Exception:
        _logger.exception("a stream broke")
        problem = Problem(title="Internal error", status=500, code=VouchError.code)
        yield _encode("problem", problem.model_dump(mode="json"))


def encode_event(event: StageEvent) -> bytes:
    """Return one stage in the wire format of server-sent events."""
    match event:
        case Condensed():
            body: JsonValue = {"ask_id": event.ask_id, "search_question": event.search_question}
            return _encode("condensed", body)
        case EvidenceFound():
            return _encode(
                "evidence", {"hits": [hit.model_dump(mode="json") for hit in event.hits]}
            )
        case VerdictReached():
            return _encode("verdict", {"guard": event.guard.model_dump(mode="json")})
        case AnswerDrafted():
            return _encode(
                "drafted", {"agent_refused": event.agent_refused, "rounds": event.rounds}
            )
        case Done():
            return _encode("done", event.response.model_dump(mode="json", by_alias=True))


def _encode(name: str, body: JsonValue) -> bytes:
    # JSON has no line breaks outside strings, and escapes those within: one data line is enough.
    return f"event: {name}\ndata: {json.dumps(body, ensure_ascii=False)}\n\n".encode()
