"""Errors of the tool server, and the one mapping from any error to what a caller is told.

Tree:
    ToolServerError
      NotAuthorisedError      the call carries no accepted token
      UnknownToolError        no tool has this name
      RateLimitedError        the caller made too many calls in too short a time
      OverloadedError         more calls wait than may
      AuditUnavailableError   the audit cannot be read or written
"""

from __future__ import annotations

from mcp.types import CallToolResult, TextContent
from pydantic import ValidationError

from context.errors import ContextError
from knowledge.contracts import ToolFailure
from retrieval.errors import RetrievalError
from service.errors import VouchError

INTERNAL_ERROR = "internal_error"

_RETRYABLE = frozenset(
    {"index_unavailable", "rate_limited", "overloaded", "audit_unavailable", "tool_timeout"}
)
_MOST_FAULTS = 5
_STATUS = {
    "unknown_tool": 404,
    "rate_limited": 429,
    "overloaded": 503,
    "index_unavailable": 503,
    "audit_unavailable": 503,
    "tool_timeout": 504,
    INTERNAL_ERROR: 500,
}
_REFUSED = 422


class ToolServerError(VouchError):
    """Root of the errors of the tool server."""

    code = INTERNAL_ERROR


class NotAuthorisedError(ToolServerError):
    """The call carries no accepted token."""

    code = "not_authorised"


class UnknownToolError(ToolServerError):
    """No tool has this name."""

    code = "unknown_tool"


class RateLimitedError(ToolServerError):
    """The caller made too many calls in too short a time.

    Attributes:
        retry_after_seconds: When the next one may be made.
    """

    code = "rate_limited"

    def __init__(self, message: str, *, retry_after_seconds: int = 1) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class OverloadedError(ToolServerError):
    """More calls wait than may."""

    code = "overloaded"


class AuditUnavailableError(ToolServerError):
    """The audit cannot be read or written."""

    code = "audit_unavailable"


def failure_of(error: Exception) -> ToolFailure:
    """Return what a caller is told of an error: the same over MCP and over HTTP.

    Errors raised on purpose keep their code and words. Of any other nothing leaves the process:
    its text may hold paths, addresses or content.
    """
    if isinstance(error, ValidationError):
        return ToolFailure(code="bad_arguments", message=_faults(error))
    if isinstance(error, TimeoutError):
        return ToolFailure(code="tool_timeout", message="the tool took too long", retryable=True)
    if isinstance(error, RetrievalError | ToolServerError | ContextError):
        wait_seconds = error.retry_after_seconds if isinstance(error, RateLimitedError) else 0
        return ToolFailure(
            code=error.code,
            message=str(error),
            retryable=error.code in _RETRYABLE,
            retry_after_seconds=wait_seconds,
        )
    return ToolFailure(code=INTERNAL_ERROR, message="the tool failed; its server's log says why")


def status_of(failure: ToolFailure) -> int:
    """Return the HTTP status of a failure: 422 for every call that a better one would avoid."""
    return _STATUS.get(failure.code, _REFUSED)


def refuse(failure: ToolFailure) -> CallToolResult:
    """Return the tool result that carries a failure."""
    text = failure.model_dump_json()
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)


def _faults(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_input=False, include_context=False)
    lines = [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults]
    return "; ".join(lines[:_MOST_FAULTS])
