"""One mapping from errors to HTTP: RFC 9457 problem documents with stable codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from agent.errors import (
    AgentError,
    BudgetUnavailableError,
    DailyTokensSpentError,
    ModelRestingError,
    ModelTimeoutError,
)
from backend.api.completions_errors import error_body, speaks_completions
from backend.edge.rates import rate_headers
from backend.errors import (
    AdminRequiredError,
    AskFailedError,
    AskPendingError,
    AskTimeoutError,
    BackendError,
    BadOrderError,
    BadSignatureError,
    ForeignRequestError,
    JobStateError,
    NotAuthenticatedError,
    NoWorkerError,
    OverloadedError,
    RecordUnavailableError,
    RequestTooLargeError,
    ScopeMissingError,
    TooManyRequestsError,
    UnknownAskError,
    UnknownJobError,
    UnknownModelError,
    UnknownSourceError,
)
from backend.pages.problem import respond_problem, wants_page
from knowledge.errors import (
    BuildGoneError,
    KnowledgeError,
    KnowledgeLimitedError,
    ToolRefusedError,
)
from service.errors import VouchError
from service.logs import get_logger
from storage.errors import StorageError

PROBLEM_TYPE = "application/problem+json"

_logger = get_logger(__name__)


class FieldProblem(BaseModel):
    """One field of a body that was refused."""

    model_config = ConfigDict(frozen=True)

    field: str
    message: str


class Problem(BaseModel):
    """An error as every route answers it."""

    model_config = ConfigDict(frozen=True)

    type: str = Field(default="about:blank")
    title: str
    status: int
    code: str = Field(description="Stable name of the error.")
    detail: str = ""
    resets_at: str | None = Field(
        default=None, description="When a spent daily budget starts anew, UTC."
    )
    errors: tuple[FieldProblem, ...] = ()


@dataclass(frozen=True, slots=True)
class _Kind:
    status: int
    title: str


# The first class that fits decides, so a subclass stands above its parent.
_KINDS: tuple[tuple[type[VouchError], _Kind], ...] = (
    (OverloadedError, _Kind(503, "Too many questions at once")),
    (TooManyRequestsError, _Kind(429, "Too many requests")),
    (KnowledgeLimitedError, _Kind(429, "Too many calls of the search")),
    (AskTimeoutError, _Kind(504, "The question took too long")),
    (RecordUnavailableError, _Kind(503, "The record cannot be stored")),
    (UnknownAskError, _Kind(404, "No such record")),
    (AskPendingError, _Kind(409, "Not answered yet")),
    (AskFailedError, _Kind(409, "Not answered")),
    (UnknownModelError, _Kind(404, "No such model")),
    (ForeignRequestError, _Kind(403, "Request from elsewhere")),
    (RequestTooLargeError, _Kind(413, "Request too large")),
    (AdminRequiredError, _Kind(401, "The admin key is needed")),
    (BadOrderError, _Kind(422, "The order cannot be carried out")),
    (UnknownJobError, _Kind(404, "No such job")),
    (UnknownSourceError, _Kind(404, "No such source")),
    (BadSignatureError, _Kind(401, "Not signed as agreed")),
    (JobStateError, _Kind(409, "Not in this state")),
    (NoWorkerError, _Kind(503, "No worker yet")),
    (NotAuthenticatedError, _Kind(401, "A key is needed")),
    (ScopeMissingError, _Kind(403, "Not allowed with this key")),
    (ToolRefusedError, _Kind(422, "The search refused the request")),
    (BuildGoneError, _Kind(503, "The index is being replaced")),
    (KnowledgeError, _Kind(503, "The documentation cannot be reached")),
    (DailyTokensSpentError, _Kind(429, "The daily token budget is spent")),
    (BudgetUnavailableError, _Kind(503, "The token budget cannot be read")),
    (ModelTimeoutError, _Kind(504, "The model took too long")),
    (AgentError, _Kind(502, "The model cannot answer")),
    (StorageError, _Kind(503, "The database cannot be reached")),
    (BackendError, _Kind(500, "Internal error")),
)
_KNOW_WHEN = (OverloadedError, KnowledgeLimitedError, DailyTokensSpentError, ModelRestingError)
_RETRY_AFTER_SECONDS = 2
_OTHER_TYPE = "send JSON, with the header content-type: application/json"
_UNREADABLE = "the body cannot be read: send JSON in UTF-8, nested no deeper than need be"
_STATUS_TITLES = {
    400: "Bad request",
    401: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
}


def describe_error(error: VouchError) -> Problem:
    """Return the problem document of one of our errors.

    The detail of an unexpected one stays in the log: it could name what a caller need not know.
    """
    kind = next((kind for known, kind in _KINDS if isinstance(error, known)), None)
    if kind is None:
        return Problem(title="Internal error", status=500, code=VouchError.code)
    resets_at = error.resets_at.isoformat() if isinstance(error, DailyTokensSpentError) else None
    return Problem(
        title=kind.title,
        status=kind.status,
        code=error.code,
        detail=str(error),
        resets_at=resets_at,
    )


def problem_headers(error: VouchError) -> dict[str, str]:
    """Return the headers that go with an error: when to try again, or how to say who one is."""
    if isinstance(error, AdminRequiredError):
        return {"WWW-Authenticate": "Bearer"}
    if isinstance(error, NotAuthenticatedError):
        return {"WWW-Authenticate": 'Bearer, Basic realm="Vouch: the password is an API key"'}
    if isinstance(error, TooManyRequestsError):
        return rate_headers(error.standing, error.whose)
    if isinstance(error, _KNOW_WHEN):
        return {"Retry-After": str(error.retry_after_seconds)}
    if describe_error(error).status == 503:  # noqa: PLR2004 - the HTTP status itself
        return {"Retry-After": str(_RETRY_AFTER_SECONDS)}
    return {}


def problem_response(problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """Return a problem document as a response."""
    absent = {name for name in ("errors", "resets_at") if not getattr(problem, name)}
    body = problem.model_dump(mode="json", exclude=absent)
    return JSONResponse(body, problem.status, headers, media_type=PROBLEM_TYPE)


def install_problem_handlers(app: FastAPI) -> None:
    """Make every error of the application a problem document."""
    app.add_exception_handler(VouchError, answer_error)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(Exception, _on_unexpected)


def _respond(
    request: Request, problem: Problem, headers: Mapping[str, str] | None = None
) -> Response:
    """Answer a person with a page, a chat client in its own form, others with a document."""
    if speaks_completions(request.url.path):
        first = problem.errors[0].field if problem.errors else ""
        body = error_body(
            title=problem.title, detail=problem.detail,
            status=problem.status, code=problem.code, field=first,
        )  # fmt: skip
        return JSONResponse(body, problem.status, headers)
    pages = getattr(request.app.state, "pages", None)
    if pages is not None and wants_page(request):
        return respond_problem(pages.templates, request, problem, headers)
    return problem_response(problem, headers)


async def answer_error(request: Request, error: Exception) -> Response:
    """Return the response to one of our errors."""
    assert isinstance(error, VouchError)  # noqa: S101 - how the handler is registered
    problem = describe_error(error)
    _logger.warning("request refused", code=problem.code, status=problem.status, detail=str(error))
    return _respond(request, problem, problem_headers(error))


async def _on_invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - how the handler is registered
    fields = tuple(
        FieldProblem(field=_field_name(item["loc"]), message=str(item["msg"]))
        for item in error.errors()
    )
    named = ", ".join(dict.fromkeys(item.field for item in fields))
    is_json = "json" in request.headers.get("content-type", "")
    # Bytes of another type are not even looked at, and then a body that was sent seems missing.
    is_other_type = not is_json and any(item.field == "body" for item in fields)
    return _respond(
        request,
        Problem(
            title="The request is not valid",
            status=422,
            code="invalid_request",
            detail=_OTHER_TYPE if is_other_type else f"Look at: {named}",
            errors=fields,
        ),
    )


async def _on_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - how the handler is registered
    title = _STATUS_TITLES.get(error.status_code, "The request cannot be served")
    code = title.lower().replace(" ", "_")
    detail = _UNREADABLE if error.status_code == 400 else ""  # noqa: PLR2004 - the HTTP status
    problem = Problem(title=title, status=error.status_code, code=code, detail=detail)
    return _respond(request, problem, error.headers)


async def _on_unexpected(request: Request, error: Exception) -> Response:
    _logger.error("unexpected error", exc_info=error)
    return _respond(request, Problem(title="Internal error", status=500, code=VouchError.code))


def _field_name(location: tuple[int | str, ...]) -> str:
    """Return the dotted name of a field; the first part only says where it was sent."""
    names = location[1:]
    if all(isinstance(part, int) for part in names):
        return str(location[0]) if location else "body"
    return ".".join(str(part) for part in names)
