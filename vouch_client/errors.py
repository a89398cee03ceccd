"""What can go wrong when asking.

VouchClientError
    UnreachableError            no connection, or no answer in time
    ProtocolError               something answered that is no Vouch service
    ProblemError                the service said what is wrong, with a stable ``code``
        NotAuthenticatedError   401
        ForbiddenError          403
        NotFoundError           404
        InvalidRequestError     422, with the fields at fault
        RateLimitedError        429, with when to come back
        ServiceUnavailableError 502, 503 and 504, with when to come back if it is known

A refusal is no error: it is a ``Refusal``.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, ValidationError


class FieldProblem(BaseModel):
    """One field of a request that was refused."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    field: str
    message: str


class Problem(BaseModel):
    """A problem document (RFC 9457)."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    title: str
    status: int
    code: str
    detail: str = ""
    errors: tuple[FieldProblem, ...] = ()


class VouchClientError(Exception):
    """Asking did not work."""


class UnreachableError(VouchClientError):
    """The service cannot be reached, or did not answer in time."""


class ProtocolError(VouchClientError):
    """What answered is no Vouch service, or one that this client does not understand."""


class ProblemError(VouchClientError):
    """The service said what is wrong.

    Attributes:
        status: HTTP status.
        code: Stable name of the error.
        detail: For a person.
        fields: At fault, of an invalid request.
        retry_after_seconds: When to come back; None when the service did not say.
    """

    def __init__(self, problem: Problem, retry_after_seconds: float | None = None) -> None:
        super().__init__(f"{problem.title} ({problem.code}): {problem.detail}".removesuffix(": "))
        self.status = problem.status
        self.code = problem.code
        self.detail = problem.detail
        self.fields = problem.errors
        self.retry_after_seconds = retry_after_seconds


class NotAuthenticatedError(ProblemError):
    """The service needs a key, or does not know the one given."""


class ForbiddenError(ProblemError):
    """The key does not allow this."""


class NotFoundError(ProblemError):
    """There is no such record."""


class InvalidRequestError(ProblemError):
    """The request is not acceptable; ``fields`` says why."""


class RateLimitedError(ProblemError):
    """A limit is reached; ``retry_after_seconds`` says until when."""


class ServiceUnavailableError(ProblemError):
    """The service, its search or its model cannot answer at the moment."""


_BY_STATUS: Mapping[int, type[ProblemError]] = {
    401: NotAuthenticatedError,
    403: ForbiddenError,
    404: NotFoundError,
    422: InvalidRequestError,
    429: RateLimitedError,
    502: ServiceUnavailableError,
    503: ServiceUnavailableError,
    504: ServiceUnavailableError,
}


def problem_of(body: bytes | str, status: int, retry_after: str = "") -> VouchClientError:
    """Return the error that a failed response, or the last event of a stream, stands for.

    Args:
        body: A problem document as JSON.
        status: HTTP status of the response; of an event that of its document counts.
        retry_after: The header, in seconds.
    """
    try:
        problem = Problem.model_validate_json(body)
    except ValidationError:
        return ProtocolError(
            f"status {status} without a problem document: is this a Vouch service?"
        )
    seconds = float(retry_after) if retry_after.isdecimal() else None
    return _BY_STATUS.get(problem.status, ProblemError)(problem, seconds)
