"""The tool that gives a desktop host a whole answer gives nothing the guard refused."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import pytest
from mcp import Client
from mcp.types import CallToolResult, TextContent
from pydantic import JsonValue

from knowledge.contracts import ToolFailure
from mcp_server.ask_tool import AskDoor
from mcp_server.stdio import Bridge, bridge_server
from tests.browser.answers import make_answer, make_refusal
from tests.browser.serving import serve as serve_pages
from tests.browser.stage import create_api
from tests.mcp_server.serving import TOKEN, serve

ANSWER_PREFIX = "A context manager is an object"


@asynccontextmanager
async def connect(url: str) -> AsyncGenerator[Client]:
    async with serve() as running:
        bridge = Bridge(f"{running.url}/mcp", TOKEN, door=AskDoor(url))
        async with Client(bridge_server(bridge)) as host:
            yield host


async def call(url: str, arguments: Mapping[str, JsonValue]) -> CallToolResult:
    async with connect(url) as host:
        return await host.call_tool("ask", dict(arguments))


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


async def test_answer_comes_with_its_citations() -> None:
    with serve_pages(create_api) as serving:
        result = await call(serving.url, {"question": "How do I define a context manager?"})
    assert text_of(result).startswith(ANSWER_PREFIX)
    assert "[1] " in text_of(result)
    assert result.structured_content is not None
    assert result.structured_content["id"] == make_answer().id
    assert len(result.structured_content["citations"]) == len(make_answer().citations)


async def test_refusal_is_the_fixed_sentence_and_says_why() -> None:
    with serve_pages(create_api) as serving:
        result = await call(serving.url, {"question": "How long should I boil an egg?"})
    refusal = make_refusal()
    assert refusal.abstention is not None
    assert text_of(result).splitlines() == [refusal.answer, refusal.abstention.detail]
    assert not result.is_error
    assert result.structured_content is not None
    assert result.structured_content["citations"] == []


@pytest.mark.parametrize("arguments", [{}, {"question": ""}, {"question": "q", "top_k": 4}])
async def test_call_that_is_not_one_is_refused(arguments: dict[str, JsonValue]) -> None:
    result = await call("http://127.0.0.1:9", arguments)
    assert result.is_error
    assert ToolFailure.model_validate_json(text_of(result)).code == "invalid_arguments"


async def test_api_that_is_away_is_said_to_be_away() -> None:
    result = await call("http://127.0.0.1:9", {"question": "anything"})
    failure = ToolFailure.model_validate(json.loads(text_of(result)))
    assert (failure.code, failure.retryable) == ("api_unavailable", True)


async def test_problem_of_the_api_is_passed_on() -> None:
    with serve_pages(create_api) as serving:
        result = await call(serving.url, {"question": "crowd"})
    failure = ToolFailure.model_validate_json(text_of(result))
    assert (failure.code, failure.retryable) == ("ask_refused", True)
    assert "overloaded" in failure.message
