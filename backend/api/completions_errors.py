"""A failure in the shape that clients of chat completions read."""

from __future__ import annotations

from http import HTTPStatus

from pydantic import JsonValue

PREFIX = "/v1"

_KINDS = {
    HTTPStatus.UNAUTHORIZED: "authentication_error",
    HTTPStatus.FORBIDDEN: "permission_error",
    HTTPStatus.TOO_MANY_REQUESTS: "rate_limit_error",
}


def speaks_completions(path: str) -> bool:
    """Whether a path belongs to the door for chat completions."""
    return path == PREFIX or path.startswith(f"{PREFIX}/")


def error_body(
    *, title: str, detail: str, status: int, code: str, field: str = ""
) -> dict[str, JsonValue]:
    """Return the error object.

    Args:
        title: What went wrong, in a few words.
        detail: More of it; empty for nothing.
        status: HTTP status.
        code: Stable name of the error, the same as in problem documents.
        field: Of the request, when one is at fault.
    """
    return {
        "error": {
            "message": f"{title}: {detail}" if detail else title,
            "type": _kind(status),
            "param": field or None,
            "code": code,
        }
    }


def _kind(status: int) -> str:
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return "server_error"
    return _KINDS.get(HTTPStatus(status), "invalid_request_error")
