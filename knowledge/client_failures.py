"""From what a tool server answers to the errors our callers know."""

from __future__ import annotations

from pydantic import ValidationError

from knowledge.contracts import ToolFailure
from knowledge.errors import (
    BuildGoneError,
    KnowledgeError,
    KnowledgeLimitedError,
    KnowledgeUnavailableError,
    ToolContractError,
    ToolRefusedError,
)

_CANNOT_SERVE = frozenset(
    {
        "index_unavailable",
        "build_mismatch",
        "model_unavailable",
        "audit_unavailable",
        "overloaded",
        "service_busy",
    }
)
_CANNOT_ANSWER = frozenset(
    {"internal_error", "retrieval_error", "bad_vector", "rerank_failed", "tool_timeout"}
)

_STATUS_MEANING = {
    400: "the tool server does not speak this version of the protocol",
    401: "the tool server does not accept this token",
    403: "the tool server does not accept this token for these tools",
    404: "there is no tool server at this address",
    413: "the call is larger than the tool server accepts",
    421: "the tool server does not serve this host name",
    429: "the tool server was called too often",
}


def error_of_failure(text: str) -> KnowledgeError:
    """Return the error for the text of a tool result that is marked as an error.

    Args:
        text: The JSON of a ``ToolFailure``, or prose from a server that is not ours.
    """
    try:
        failure = ToolFailure.model_validate_json(text)
    except ValidationError:
        return ToolContractError("the tool server refused in a form that was not agreed")
    if failure.code == BuildGoneError.code:
        return BuildGoneError(failure.message)
    if failure.code == KnowledgeLimitedError.code:
        wait_seconds = max(1, failure.retry_after_seconds)
        return KnowledgeLimitedError(failure.message, retry_after_seconds=wait_seconds)
    if failure.code in _CANNOT_SERVE | _CANNOT_ANSWER:
        return KnowledgeUnavailableError(failure.message)
    return ToolRefusedError(failure.code, failure.message)


def error_of_status(status: int) -> KnowledgeError:
    """Return the error for an HTTP status that carries no JSON-RPC result."""
    message = _STATUS_MEANING.get(status, f"the tool server answered with status {status}")
    if status == 429:  # noqa: PLR2004 - too many requests
        return KnowledgeLimitedError(message, retry_after_seconds=1)
    if status == 413:  # noqa: PLR2004 - content too large: the caller can send less
        return ToolRefusedError("too_large", message)
    if status == 400:  # noqa: PLR2004 - bad request: a difference no retry can mend
        return ToolContractError(message)
    return KnowledgeUnavailableError(message)


def error_of_rpc(code: int, message: str) -> KnowledgeError:
    """Return the error for a JSON-RPC error: the two sides do not speak the same protocol."""
    return ToolContractError(f"the tool server refused the protocol: {message} ({code})")
