"""The OpenAPI document: an example of everything, and each one valid."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from pydantic import JsonValue, SecretStr

from backend.api.sampling import KNOWN, sample
from backend.app import create_app
from backend.contract import AskResponse
from backend.problems import Problem
from backend.settings import ApiSettings


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return create_app(ApiSettings(signing_key=SecretStr("0123456789abcdef"))).openapi()


Content = tuple[str, str, dict[str, Any]]


def contents(document: dict[str, Any]) -> Iterator[Content]:
    paths = document["paths"]
    for path, operations in paths.items():
        for method, operation in operations.items():
            for name, content in operation.get("requestBody", {}).get("content", {}).items():
                yield f"{method} {path} body", name, content
            for status, response in operation["responses"].items():
                for name, content in response.get("content", {}).items():
                    yield f"{method} {path} {status}", name, content


def test_every_body_response_and_error_has_an_example(document: dict[str, Any]) -> None:
    found = list(contents(document))
    assert len(found) > 200
    assert [
        f"{where} {name}"
        for where, name, content in found
        if "example" not in content and "examples" not in content
    ] == []


def test_every_example_fits_its_schema(document: dict[str, Any]) -> None:
    for where, name, content in contents(document):
        if name in {"text/event-stream", "multipart/form-data"}:
            continue
        schema = {**content.get("schema", {}), "components": document["components"]}
        examples = content.get("examples", {})
        shown = [one["value"] for one in examples.values()] or [content["example"]]
        for example in shown:
            try:
                jsonschema.validate(example, schema)
            except jsonschema.ValidationError as error:
                raise AssertionError(f"{where} {name}: {error.message}") from error


def test_every_error_names_its_status_and_a_code(document: dict[str, Any]) -> None:
    for where, name, content in contents(document):
        if name == "application/problem+json":
            problem = Problem.model_validate(content["example"])
            assert where.endswith(f" {problem.status}")
            assert problem.code
            assert problem.title


def test_example_of_an_answer_is_one() -> None:
    schema = AskResponse.model_json_schema(by_alias=True)
    answer = AskResponse.model_validate(sample(schema, schema["$defs"]))
    assert answer.status == "answered"
    assert answer.question == KNOWN["question"]
    assert answer.citations[0].quote in answer.retrieved_chunks[0].text


def test_schema_of_anything_gets_an_object_and_a_loop_ends() -> None:
    assert sample({}, {}) == {}
    loop: dict[str, JsonValue] = {"type": "array", "items": {"$ref": "#/$defs/Loop"}}
    assert isinstance(sample(loop, {"Loop": loop}), list)
