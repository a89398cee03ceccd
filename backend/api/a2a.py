"""The door for other agents: a card that says what this one does, and questions by Agent2Agent.

A message is answered as ``POST /ask`` would answer it: by the same guard, in the name of the same
caller, with a record. There are no tasks: the answer is in the reply.
"""

from __future__ import annotations

import json

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from pydantic import JsonValue, ValidationError

from backend.api.a2a_wire import (
    CONTENT_TYPE_NOT_SUPPORTED,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    PROTOCOL_VERSION,
    PUSH_NOT_SUPPORTED,
    TASK_NOT_FOUND,
    UNSUPPORTED_OPERATION,
    VERSION_NOT_SUPPORTED,
    Answered,
    Call,
    Card,
    Interface,
    Message,
    Part,
    SendMessage,
    Skill,
)
from backend.api.ask import CallerHere, ServicesHere
from backend.api.examples import problem_responses
from backend.contract import AskRequest, AskResponse
from backend.problems import describe_error, problem_headers
from service.errors import VouchError
from service.health import installed_version

CARD_PATH = "/.well-known/agent-card.json"
A2A_PATH = "/a2a"

router = APIRouter(tags=["agents"])

_VERSION_HEADER = "a2a-version"
_REFUSED_METHODS = {
    "SendStreamingMessage": (UNSUPPORTED_OPERATION, "answers come whole, not as a stream"),
    "SubscribeToTask": (UNSUPPORTED_OPERATION, "there are no tasks; the reply is the answer"),
    "GetExtendedAgentCard": (UNSUPPORTED_OPERATION, "there is one card"),
    "GetTask": (TASK_NOT_FOUND, "there are no tasks; the reply is the answer"),
    "ListTasks": (UNSUPPORTED_OPERATION, "there are no tasks; the reply is the answer"),
    "CancelTask": (TASK_NOT_FOUND, "there are no tasks; the reply is the answer"),
    "CreateTaskPushNotificationConfig": (PUSH_NOT_SUPPORTED, "nothing is pushed"),
    "GetTaskPushNotificationConfig": (PUSH_NOT_SUPPORTED, "nothing is pushed"),
    "ListTaskPushNotificationConfigs": (PUSH_NOT_SUPPORTED, "nothing is pushed"),
    "DeleteTaskPushNotificationConfig": (PUSH_NOT_SUPPORTED, "nothing is pushed"),
}


class RefusedCallError(VouchError):
    """A request of the protocol that cannot be answered.

    Args:
        rpc_code: The protocol's code.
        message: What is wrong with it.
    """

    code = "call_refused"

    def __init__(self, rpc_code: int, message: str) -> None:
        super().__init__(message)
        self.rpc_code = rpc_code


@router.get(CARD_PATH)
async def show_card(request: Request) -> JSONResponse:
    """Say what this agent does and how it is spoken to; needs no key."""
    root = str(request.base_url).rstrip("/")
    card = Card(
        name="Vouch",
        description="Answers questions about a body of documentation with citations, and refuses "
        "when the documentation does not vouch for an answer.",
        version=installed_version(),
        supported_interfaces=(Interface(url=f"{root}{A2A_PATH}"),),
        capabilities={"streaming": False, "pushNotifications": False},
        security_schemes={
            "key": {"httpAuthSecurityScheme": {"scheme": "Bearer", "description": "An API key."}}
        },
        security_requirements=({"schemes": {"key": {"list": []}}},),
        skills=(
            Skill(
                id="ask",
                name="Ask the documentation",
                description="One question in, a guarded answer with its citations out, or the "
                "refusal sentence with the reason. Messages of one context are a conversation.",
                tags=("documentation", "question answering", "citations"),
                examples=("How do I define a context manager?",),
            ),
        ),
    )
    return JSONResponse(card.model_dump(mode="json", by_alias=True))


@router.post(A2A_PATH, responses=problem_responses(401, 403, 413))
async def receive(request: Request, services: ServicesHere, caller: CallerHere) -> Response:
    """Answer one JSON-RPC request; ``SendMessage`` asks a question.

    The reply is a message with the answer as text and the citations, or the reason of a refusal,
    as data. An error has the protocol's code; a service that is down also its HTTP status.
    """
    call: Call | None = None
    try:
        call = _read_call(await request.body())
        asked = _read_question(call, request.headers.get(_VERSION_HEADER, PROTOCOL_VERSION))
        response = await services.asker.answer(asked, caller)
    except RefusedCallError as error:
        return _failed(call, error.rpc_code, str(error))
    except VouchError as error:
        problem = describe_error(error)
        return _failed(
            call, INTERNAL_ERROR, problem.title, data=problem.model_dump(mode="json"),
            status=problem.status, headers=problem_headers(error),
        )  # fmt: skip
    message = to_message(response, str(request.base_url).rstrip("/"))
    result = {"message": message.model_dump(mode="json", by_alias=True, exclude_none=True)}
    return JSONResponse({"jsonrpc": "2.0", "id": call.id, "result": result})


def to_message(response: AskResponse, root: str) -> Message:
    """Return an answer as a message: its words as text, all it rests on as data.

    Args:
        response: As ``POST /ask`` gives it.
        root: Address of this service.
    """
    answered = Answered(
        ask_id=response.id,
        status=response.status,
        abstained=response.abstained,
        abstention=response.abstention,
        citations=response.citations,
        proposals=response.proposals,
        search_question=response.search_question,
        fidelity=response.fidelity.verdict,
        degraded=response.degraded,
        record=f"{root}/asks/{response.id}",
    )
    return Message(
        message_id=response.id,
        role="ROLE_AGENT",
        context_id=response.conversation_id or response.id,
        parts=(
            Part(text=response.answer, media_type="text/markdown"),
            Part(data=answered.model_dump(mode="json"), media_type="application/json"),
        ),
    )


def _read_call(body: bytes) -> Call:
    try:
        return Call.model_validate(json.loads(body))
    except ValidationError as error:
        raise RefusedCallError(INVALID_REQUEST, _first(error)) from error
    except ValueError as error:
        raise RefusedCallError(PARSE_ERROR, "the body is not JSON") from error


def _read_question(call: Call, version: str) -> AskRequest:
    if version.partition(".")[0] != PROTOCOL_VERSION.partition(".")[0]:
        message = f"version {version!r} is not spoken here; it is {PROTOCOL_VERSION}"
        raise RefusedCallError(VERSION_NOT_SUPPORTED, message)
    if call.method != "SendMessage":
        unknown = (METHOD_NOT_FOUND, f"there is no method {call.method!r}")
        raise RefusedCallError(*_REFUSED_METHODS.get(call.method, unknown))
    try:
        sent = SendMessage.model_validate(call.params)
        if not sent.message.text.strip():
            raise RefusedCallError(CONTENT_TYPE_NOT_SUPPORTED, "a question is text")
        return sent.to_ask()
    except ValidationError as error:
        raise RefusedCallError(INVALID_PARAMS, _first(error)) from error


def _failed(
    call: Call | None,
    code: int,
    message: str,
    *,
    data: JsonValue = None,
    status: int = 200,
    headers: dict[str, str] | None = None,
) -> JSONResponse:
    error: dict[str, JsonValue] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    body = {"jsonrpc": "2.0", "id": call.id if call else None, "error": error}
    return JSONResponse(body, status_code=status, headers=headers)


def _first(error: ValidationError) -> str:
    found = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in found["loc"])
    return f"{place}: {found['msg']}" if place else str(found["msg"])
