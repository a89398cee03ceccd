"""A failure as a page that a person understands: what happened, and what to do now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from fastapi import Request
from fastapi.responses import HTMLResponse

from backend.pages.templates import Templates


class ProblemDocument(Protocol):
    """A failure as every route describes it."""

    @property
    def code(self) -> str:
        """Stable name of the failure; its texts stand in the catalog under ``problems``."""
        ...

    @property
    def status(self) -> int:
        """HTTP status."""
        ...

    @property
    def detail(self) -> str:
        """Shown where the catalog has no text of its own for the code."""
        ...


def wants_page(request: Request) -> bool:
    """Whether the sender of a request reads HTML rather than JSON."""
    return "text/html" in request.headers.get("accept", "")


def wants_fragment(request: Request) -> bool:
    """Whether the answer is put into a page that is already open."""
    return request.headers.get("hx-request") == "true"


def render_problem(
    templates: Templates, problem: ProblemDocument, headers: Mapping[str, str] | None = None
) -> str:
    """Return the failure as a piece of a page."""
    return templates.render("_problem.html", **_fields(templates, problem, headers or {}))


def respond_problem(
    templates: Templates,
    request: Request,
    problem: ProblemDocument,
    headers: Mapping[str, str] | None = None,
) -> HTMLResponse:
    """Return the failure as a page, or as a piece when the page is already open.

    Args:
        templates: The page templates.
        request: Tells whether a page is already open.
        problem: What went wrong.
        headers: Go out with the response; ``Retry-After`` is also said in words.
    """
    name = "_problem.html" if wants_fragment(request) else "problem.html"
    return templates.respond(
        name,
        status=problem.status,
        headers=headers,
        **_fields(templates, problem, headers or {}),
    )


def _fields(
    templates: Templates, problem: ProblemDocument, headers: Mapping[str, str]
) -> dict[str, object]:
    texts = templates.texts
    known = problem.code if texts.has(f"problems.{problem.code}") else "default"
    lowered = {name.lower(): value for name, value in headers.items()}
    return {
        "problem": problem,
        "problem_title": texts(f"problems.{known}.title"),
        "problem_detail": texts(f"problems.{known}.detail", detail=problem.detail),
        "retry_after_seconds": lowered.get("retry-after", ""),
    }
