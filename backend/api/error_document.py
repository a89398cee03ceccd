"""The API document: every operation with every error it can answer, each with an example.

What stands before the routes can refuse any request: the perimeter, the gate, the rates. That is
written here once, and not at each route.
"""

from __future__ import annotations

from typing import Any, cast

from pydantic import JsonValue

from backend.api.completions_errors import error_body, speaks_completions
from backend.api.document import DocumentedApi
from backend.api.examples import PROBLEMS
from backend.edge.gate import scope_of
from backend.problems import PROBLEM_TYPE, Problem

_Object = dict[str, JsonValue]

_EVERYWHERE = (400, 401, 403, 413, 422, 429, 503)
_WITHOUT_BODY = frozenset({"get", "delete"})
_BODY_ONLY = frozenset({400, 413})
_FIRST_ERROR = 400
_PASSED_ON = ("/mcp", "/api/v1/context/")
_REF = "#/components/schemas/Problem"
_ERROR_SCHEMA: _Object = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "type", "code"],
            "properties": {
                "message": {"type": "string"},
                "type": {"type": "string"},
                "param": {"type": ["string", "null"]},
                "code": {"type": "string"},
            },
        }
    },
}


class DocumentedApp(DocumentedApi):
    """An application whose document names every error of every operation."""

    def openapi(self) -> dict[str, Any]:
        """Return the document; it is made once."""
        if not self.openapi_schema:
            _complete(cast("_Object", super().openapi()))
        return cast("dict[str, Any]", self.openapi_schema)


def _complete(document: _Object) -> None:
    schemas = _child(_child(document, "components"), "schemas")
    schemas["Problem"] = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    _lift_definitions(schemas)
    schemas.pop("HTTPValidationError", None)
    schemas.pop("ValidationError", None)
    _child(_child(document, "components"), "securitySchemes")["key"] = {
        "type": "http", "scheme": "bearer", "description": "An API key, made by `vouch keys`.",
    }  # fmt: skip
    for path, operations in _child(document, "paths").items():
        for method, operation in cast("dict[str, _Object]", operations).items():
            _complete_operation(path, method, operation)


def _complete_operation(path: str, method: str, operation: _Object) -> None:
    responses = _child(operation, "responses")
    is_open = scope_of(path) is None
    if not is_open:
        # Without a key as well, where that is allowed.
        operation["security"] = [{"key": []}, {}]
        for status in _EVERYWHERE:
            if not (method in _WITHOUT_BODY and status in _BODY_ONLY):
                responses.setdefault(str(status), {"description": PROBLEMS[status][0]})
    for status, response in cast("dict[str, _Object]", responses).items():
        if int(status) >= _FIRST_ERROR and not is_open:
            response["content"] = _content(path, int(status))


def _content(path: str, status: int) -> _Object:
    title, code = PROBLEMS[status]
    if speaks_completions(path):
        example = error_body(title=title, detail="", status=status, code=code)
        return {"application/json": {"schema": _ERROR_SCHEMA, "example": example}}
    problem = Problem(title=title, status=status, code=code)
    shown = problem.model_dump(mode="json", exclude={"errors", "resets_at"})
    content: _Object = {PROBLEM_TYPE: {"schema": {"$ref": _REF}, "example": shown}}
    if path.startswith(_PASSED_ON):
        # What the tool server says of a call is passed on as it is.
        content["application/json"] = {
            "schema": {"type": "object"},
            "example": {"code": code, "message": title, "retryable": False},
        }
    return content


def _lift_definitions(schemas: _Object) -> None:
    problem = cast("_Object", schemas["Problem"])
    schemas.update(cast("_Object", problem.pop("$defs", {})))


def _child(parent: _Object, name: str) -> _Object:
    return cast("_Object", parent.setdefault(name, {}))
