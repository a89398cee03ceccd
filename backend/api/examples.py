"""Examples and error responses of the OpenAPI document."""

from __future__ import annotations

from typing import TypeAlias

from fastapi.openapi.models import Example
from pydantic import JsonValue

from backend.problems import PROBLEM_TYPE, FieldProblem, Problem

# The shape of the framework's own argument.
Responses: TypeAlias = "dict[int | str, dict[str, object]]"

ASK_EXAMPLES: dict[str, Example] = {
    "question": {
        "summary": "A question",
        "value": {"question": "What does the yield expression do?"},
    },
    "one source": {
        "summary": "Within one source, with more passages",
        "value": {"question": "How are comparisons chained?", "top_k": 8, "source": "python"},
    },
    "not in the documentation": {
        "summary": "A question that is refused",
        "value": {"question": "What is a prime number?"},
    },
}
SEARCH_EXAMPLES: dict[str, Example] = {
    "search": {"summary": "A search", "value": {"query": "yield expression", "top_n": 5}},
    "filtered": {
        "summary": "Within some sources and one topic",
        "value": {
            "query": "yield expression",
            "filters": {"source": ["python-reference"], "metadata.topic": "yield"},
        },
    },
}

_INVALID = 422
PROBLEMS = {
    400: ("Bad request", "bad_request"),
    401: ("A key is needed", "not_authenticated"),
    403: ("Request from elsewhere", "foreign_request"),
    404: ("No such record", "unknown_ask"),
    409: ("Not in this state", "job_state"),
    413: ("Request too large", "request_too_large"),
    422: ("The request is not valid", "invalid_request"),
    429: ("Too many requests", "rate_limited"),
    502: ("The model cannot answer", "model_unavailable"),
    503: ("The documentation cannot be reached", "knowledge_unavailable"),
    504: ("The question took too long", "ask_timeout"),
}


def problem_responses(*statuses: int) -> Responses:
    """Return the documentation of these error statuses."""
    return {status: _document(status) for status in statuses}


def problem_example(status: int, title: str) -> JsonValue:
    """Return a problem document of a status, as it could be sent.

    Args:
        status: HTTP status.
        title: Of a status that has no entry of its own.
    """
    title, code = PROBLEMS.get(status, (title, "error"))
    errors = (FieldProblem(field="body.question", message="Field required"),)
    problem = Problem(
        title=title, status=status, code=code, errors=errors if status == _INVALID else ()
    )
    return problem.model_dump(mode="json", exclude=None if problem.errors else {"errors"})


def _document(status: int) -> dict[str, object]:
    title, _ = PROBLEMS[status]
    return {
        "description": title,
        "model": Problem,
        "content": {PROBLEM_TYPE: {"example": problem_example(status, title)}},
    }
