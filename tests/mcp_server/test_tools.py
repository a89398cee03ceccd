"""The four tools over real HTTP, called by the typed client."""

from __future__ import annotations

import pytest

from knowledge.contracts import STAGES_KEY
from knowledge.errors import BuildGoneError, ToolRefusedError
from mcp_server.replies import stage_order
from retrieval.search import Trace
from service.tokens import Branch
from tests.mcp_server.raw import call_modern
from tests.mcp_server.serving import claims, connect, serve, sign


async def test_search_returns_the_hits_of_the_engine_in_order() -> None:
    async with serve() as running, connect(running.url) as client:
        result = await client.bind(claims()).search_kb("what is the limit?", 2)
    assert [hit.fused_rank for hit in result.hits] == [1, 2]
    assert result.hits[0].text == "Passage 1 says that the limit is 10 requests."
    assert result.index.build == "20261129T000000-aaaaaa"


async def test_all_four_tools_answer() -> None:
    async with serve() as running, connect(running.url) as client:
        tools = client.bind(claims())
        found = await tools.search_kb("limit", 4)
        first = found.hits[0].chunk_id
        source = await tools.get_source(first)
        related = await tools.get_related(first, 2)
        page = await tools.list_sections()
    assert source.text == found.hits[0].text
    assert first not in {hit.chunk_id for hit in related.hits}
    assert page.sources == {"guide": 4}


async def test_a_label_is_granted_by_the_token_alone() -> None:
    async with serve() as running, connect(running.url) as client:
        public = await client.bind(claims()).list_sections("secret")
        staff = await client.bind(claims(labels=("staff",))).list_sections("secret")
    assert public.sources == {}
    assert staff.sources == {"secret": 1}


async def test_a_bound_source_wins_over_the_argument_in_every_tool() -> None:
    async with serve() as running, connect(running.url) as client:
        bound = client.bind(claims(labels=("staff",)), source="guide")
        found = await bound.search_kb("limit", 10, source="secret")
        page = await bound.list_sections("secret")
        secret = running.engine.chunks[-1].chunk_id
        with pytest.raises(ToolRefusedError) as refused:
            await bound.get_source(secret)
    assert {hit.source for hit in found.hits} == {"guide"}
    assert page.sources == {"guide": 4}
    assert refused.value.code == "unknown_chunk"


async def test_a_pinned_build_that_is_gone_is_said_to_be_gone() -> None:
    async with serve() as running, connect(running.url) as client:
        with pytest.raises(BuildGoneError):
            await client.bind(claims(build="another")).search_kb("limit", 4)


async def test_the_guard_gets_the_order_after_every_stage_beside_the_result() -> None:
    async with serve() as running, connect(running.url) as client:
        searched = await client.search("limit", claims("guard", ask_id="ask-9"), top_k=2)
        found = await client.bind(claims()).search_kb("limit", 2)
        (row,) = (await client.read_audit("ask-9")).rows
    assert searched.result == found
    assert searched.stages.selected == tuple(hit.chunk_id for hit in found.hits)
    assert searched.stages.dense == searched.stages.fused
    assert (row.tool, row.branch, row.chunk_ids) == (
        "search_kb",
        "guard",
        searched.stages.selected,
    )


async def test_candidates_are_those_the_guards_labels_let_through() -> None:
    async with serve() as running, connect(running.url) as client:
        secret = running.engine.chunks[-1].chunk_id
        public = await client.search("limit", claims("guard"), top_k=9)
        staff = await client.search("limit", claims("guard", labels=("staff",)), top_k=9)
    assert secret not in public.stages.fused
    assert secret in staff.stages.fused


@pytest.mark.parametrize("branch", ["agent", "gateway", "direct"])
async def test_nobody_but_the_guard_is_told_of_candidates(branch: Branch) -> None:
    async with serve() as running:
        token = sign(claims(branch))
        reply = await call_modern(running.url, "search_kb", {"query": "limit"}, token=token)
    assert reply.json()["result"]["structuredContent"]["hits"]
    assert STAGES_KEY not in reply.text


async def test_only_the_first_candidates_of_a_long_list_are_told() -> None:
    long = Trace(
        dense=tuple(f"d{place}" for place in range(500)),
        sparse=("s1",),
        fused=tuple(f"f{place}" for place in range(501)),
        reranked=(),
        selected=("d0",),
        parts=("d0", "p1"),
        part_cosines={"d0": 1.0000001},
    )
    told = stage_order(long, most=200)
    assert (told.parts, told.part_cosines) == (("d0", "p1"), {"d0": 1.0})
    assert (len(told.dense), told.sparse, len(told.fused), told.cut_at) == (200, ("s1",), 200, 200)
    assert stage_order(long).cut_at is None
    assert len(stage_order(long).fused) == 501
