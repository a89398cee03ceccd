"""The API document against the served application: requests made from it, valid and not.

Every operation gets a bounded number of generated requests. Whatever is sent, the answer is a
documented status with the documented type and shape, and never a failure of the server.
"""

# pyright: basic
# The generator types its schemas and cases only in part.

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import cast

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from pydantic import JsonValue, SecretStr
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from backend.app import create_app
from backend.edge.gate import scope_of
from backend.problems import PROBLEM_TYPE
from backend.settings import ApiSettings
from storage.database import Database, database_url
from storage.index_view import IndexView
from tests.e2e.installation import Installation, Process

# The installation is made before the first request.
pytestmark = pytest.mark.timeout(600)

_EXAMPLES = 6
_CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
DOCUMENT = cast(
    dict[str, JsonValue],
    create_app(ApiSettings(signing_key=SecretStr("0123456789abcdef"))).openapi(),
)
PATHS = cast(dict[str, dict[str, dict[str, JsonValue]]], DOCUMENT["paths"])
OPERATIONS = [(method.upper(), path) for path, methods in PATHS.items() for method in methods]


def announce_worker(installation: Installation) -> None:
    """Orders need a worker that knows the profiles; none has to run for them to be taken."""

    async def announce() -> None:
        database = Database(database_url("", installation.folder, "vouch"))
        await IndexView(database).announce("nobody", ["default"])
        await database.close()

    asyncio.run(announce())


@pytest.fixture(scope="module")
def api(installation: Installation) -> Iterator[Process]:
    process = installation.api()
    announce_worker(installation)
    process.start()
    yield process
    process.stop()


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_every_answer_is_as_documented(
    api: Process, method: str, path: str, mode: GenerationMode
) -> None:
    schema = schemathesis.openapi.from_dict(DOCUMENT)
    operation = schema[path][method]

    @given(case=operation.as_strategy(mode))
    @settings(
        max_examples=_EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
    def run(case: schemathesis.Case) -> None:
        case.call_and_validate(base_url=api.url, checks=_CHECKS, timeout=60)

    try:
        run()
    except Unsatisfiable:
        if mode is GenerationMode.POSITIVE:
            raise
        pytest.skip("nothing in this request can be wrong")


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_every_error_is_documented_with_an_example(method: str, path: str) -> None:
    responses = cast(dict[str, dict[str, JsonValue]], PATHS[path][method.lower()]["responses"])
    errors = {status: one for status, one in responses.items() if int(status) >= 400}
    if scope_of(path) is None:
        assert "401" not in errors or path.startswith("/hooks")
        return
    assert {"401", "403", "422", "429", "503"} <= errors.keys()
    for status, response in errors.items():
        content = cast(dict[str, dict[str, JsonValue]], response["content"])
        kind = "application/json" if path.startswith("/v1") else PROBLEM_TYPE
        is_passed_on = path.startswith(("/mcp", "/api/v1/context"))
        assert content.keys() == {kind, *["application/json"] * is_passed_on}
        example = cast(dict[str, JsonValue], content[kind]["example"])
        if kind == PROBLEM_TYPE:
            assert example["status"] == int(status)
            assert example["code"]
        else:
            assert cast(dict[str, JsonValue], example["error"])["code"]
