"""The OpenAPI document with an example of every body, every response and every error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from fastapi import FastAPI
from pydantic import JsonValue

from backend.api.examples import problem_example
from backend.api.sampling import Schema, sample
from backend.problems import PROBLEM_TYPE, Problem

Node = dict[str, JsonValue]

_EVENTS = (
    'event: condensed\ndata: {"ask_id": "3f6c1b7e", "search_question": "What does yield do?"}\n\n'
    'event: verdict\ndata: {"guard": {"passed": true}}\n\n'
    'event: done\ndata: {"status": "answered"}\n\n'
)
_FIRST_ERROR = 400
# The framework names a model of its own for bodies that are refused; ours is what is sent.
_PROBLEM_MODELS = ("/Problem", "/HTTPValidationError")


class DocumentedApi(FastAPI):
    """An application whose OpenAPI document lacks no example."""

    def openapi(self) -> dict[str, Any]:
        """Return the document, made once."""
        if not self.openapi_schema:
            self.openapi_schema = with_examples(super().openapi())
        return self.openapi_schema


def with_examples(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document in which every content has an example; those it has are kept.

    Args:
        document: As the framework makes it; it is changed.
    """
    whole = cast("Node", document)
    definitions = _node(_node(whole, "components"), "schemas")
    definitions.setdefault("Problem", cast("Node", Problem.model_json_schema()))
    schemas = cast("Mapping[str, Schema]", definitions)
    for operation in _operations(whole):
        for name, content in _contents(_node(operation, "requestBody")):
            _fill(name, content, schemas)
        for status, response in _node(operation, "responses").items():
            _fill_response(int(status), cast("Node", response), schemas)
    return document


def _fill_response(status: int, response: Node, schemas: Mapping[str, Schema]) -> None:
    if status < _FIRST_ERROR:
        for name, content in _contents(response):
            _fill(name, content, schemas)
        return
    contents = cast("dict[str, Node]", response.setdefault("content", {}))
    problem = contents.setdefault(PROBLEM_TYPE, {})
    problem.setdefault("schema", {"$ref": "#/components/schemas/Problem"})
    problem["example"] = problem_example(status, str(response.get("description", "")))
    for name, content in contents.items():
        reference = str(_schema_of(content).get("$ref", ""))
        if name == PROBLEM_TYPE or reference.endswith(_PROBLEM_MODELS):
            content["schema"] = {"$ref": "#/components/schemas/Problem"}
            content["example"] = problem["example"]
        else:
            _fill(name, content, schemas)


def _fill(name: str, content: Node, schemas: Mapping[str, Schema]) -> None:
    if "example" in content or "examples" in content:
        return
    is_stream = name == "text/event-stream"
    content["example"] = _EVENTS if is_stream else sample(_schema_of(content), schemas)


def _schema_of(content: Node) -> Schema:
    return _node(content, "schema")


def _operations(document: Node) -> Iterator[Node]:
    for path in _node(document, "paths").values():
        for operation in cast("Node", path).values():
            if isinstance(operation, dict) and "responses" in operation:
                yield operation


def _contents(holder: Node) -> list[tuple[str, Node]]:
    return [(name, cast("Node", content)) for name, content in _node(holder, "content").items()]


def _node(holder: Node, name: str) -> Node:
    found = holder.get(name)
    return found if isinstance(found, dict) else {}
