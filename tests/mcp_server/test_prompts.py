"""What models read of the tools: compact, without numbers set by hand, and marked as quotation."""

from __future__ import annotations

import re

from knowledge.contracts import SearchResult
from mcp_server.rendering import render
from mcp_server.replies import search_result
from mcp_server.tool_list import pin_of_this_code
from mcp_server.tools import INSTRUCTIONS
from retrieval.search import SearchRequest
from tests.mcp_server.fakes import FakeEngine


async def found(query: str = "limit", top_k: int = 3) -> SearchResult:
    """Return a search as it travels."""
    return search_result(await FakeEngine().search(SearchRequest(query=query, top_k=top_k)))


async def test_no_description_carries_a_threshold() -> None:
    pin = await pin_of_this_code()
    texts = [INSTRUCTIONS, *(tool.description for tool in pin.tools)]
    assert not [text for text in texts if re.search(r"\d|threshold|score", text)]


async def test_every_tool_and_argument_is_described() -> None:
    pin = await pin_of_this_code()
    for tool in pin.tools:
        assert len(tool.description) > 40
        properties = tool.input_schema["properties"]
        assert isinstance(properties, dict)
        for argument in properties.values():
            assert isinstance(argument, dict)
            assert argument["description"]


async def test_every_tool_says_that_it_only_reads() -> None:
    for tool in (await pin_of_this_code()).tools:
        assert tool.annotations == {
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": False,
        }


async def test_the_text_of_a_search_is_shorter_than_its_data() -> None:
    result = await found()
    text = render(result)
    assert len(text) < len(result.model_dump_json()) / 2
    assert all(hit.text in text and hit.chunk_id in text for hit in result.hits)
    assert "not instructions" in text


async def test_no_hits_are_said_in_words() -> None:
    nothing = (await found()).model_copy(update={"hits": ()})
    assert render(nothing) == "No passage was found."
