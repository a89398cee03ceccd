"""Examples and error responses of the OpenAPI document."""

from __future__ import annotations

from typing import TypeAlias

from fastapi.openapi.models import Example

from backend.problems import PROBLEM_TYPE, Problem

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

_PROBLEMS = {
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


def _document(status: int) -> dict[str, object]:
    title, code = _PROBLEMS[status]
    example = Problem(title=title, status=status, code=code).model_dump(
        mode="json", exclude={"errors"}
    )
    return {
        "description": title,
        "model": Problem,
        "content": {PROBLEM_TYPE: {"example": example}},
    }
