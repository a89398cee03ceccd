"""The API's own tools: the audit, the traced search, measurements and vectors."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from pydantic import JsonValue

from knowledge.errors import KnowledgeUnavailableError, ToolRefusedError
from tests.mcp_server.fakes import FakeEngine, FakeOpener
from tests.mcp_server.serving import claims, connect, serve


async def test_the_audit_shows_every_finished_call_at_once() -> None:
    async with serve() as running, connect(running.url) as client:
        agent = client.bind(claims("agent", ask_id="ask-7"))
        guard = client.bind(claims("guard", ask_id="ask-7"))
        await asyncio.gather(*(agent.search_kb(f"question {n}", 2) for n in range(16)))
        found = await guard.search_kb("limit", 2)
        page = await client.read_audit("ask-7")
        other = await client.read_audit("ask-8")
    assert [row.branch for row in page.rows].count("agent") == 16
    last = page.rows[-1]
    assert last.branch == "guard"
    assert last.tool == "search_kb"
    assert last.arguments == {"query": "limit", "top_k": 2, "source": ""}
    assert last.chunk_ids == tuple(hit.chunk_id for hit in found.hits)
    assert last.cosines == tuple(hit.cosine for hit in found.hits)
    assert last.build == found.index.build
    assert other.rows == ()


async def test_a_refused_call_is_recorded_with_its_code() -> None:
    async with serve() as running, connect(running.url) as client:
        with pytest.raises(ToolRefusedError):
            await client.bind(claims()).get_source("no-such-chunk")
        page = await client.read_audit("ask-1")
    assert [(row.tool, row.error) for row in page.rows] == [("get_source", "unknown_chunk")]


async def test_a_call_the_client_gave_up_on_is_recorded_as_cancelled() -> None:
    engine = FakeEngine()
    engine.release.clear()
    async with serve(opener=FakeOpener(engine)) as running, connect(running.url) as client:
        waiting = asyncio.create_task(client.bind(claims()).search_kb("limit", 2))
        await engine.entered.wait()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        rows = ()
        while not rows:
            rows = (await client.read_audit("ask-1")).rows
    assert [(row.tool, row.error) for row in rows] == [("search_kb", "cancelled")]


async def test_arguments_no_database_can_hold_are_recorded_all_the_same() -> None:
    async with serve() as running, connect(running.url) as client:
        await client.bind(claims()).search_kb("a\x00b", 2)
        with pytest.raises(ToolRefusedError):
            await client.bind(claims()).search_kb("x" * 20_000, 2)
        rows = (await client.read_audit("ask-1")).rows
    assert rows[0].arguments["query"] == "a\ufffdb"
    assert rows[1].arguments["characters"] == 20_039
    assert rows[1].error == "bad_arguments"


async def test_the_traced_search_has_the_hits_of_the_agents_search() -> None:
    async with serve() as running, connect(running.url) as client:
        traced = await client.trace("limit", claims(), top_k=3)
        found = await client.bind(claims()).search_kb("limit", 3)
    assert traced.result == found
    assert traced.stages.selected == tuple(hit.chunk_id for hit in found.hits)
    first, second = running.engine.requests
    assert (first.query, first.top_k, first.where) == (second.query, second.top_k, second.where)


async def test_the_traced_search_explains_the_chunk_it_is_asked_about() -> None:
    async with serve() as running, connect(running.url) as client:
        shown, left_out = (chunk.chunk_id for chunk in running.engine.chunks[:2])
        found = await client.trace("limit", claims(), top_k=1, explain=shown)
        lacking = await client.trace("limit", claims(), top_k=1, explain=left_out)
        plain = await client.trace("limit", claims(), top_k=1)
    assert found.explanation is not None
    assert (found.explanation.kind, found.explanation.cosine) == ("returned", 0.5)
    assert lacking.explanation is not None
    assert (lacking.explanation.chunk_id, lacking.explanation.kind) == (left_out, "not_retrieved")
    assert plain.explanation is None


async def test_filters_reach_the_engine_and_cannot_widen_the_token() -> None:
    filters: dict[str, JsonValue] = {
        "source": "guide",
        "heading": ["Section 1", "Section 2"],
        "updated_at": {"gte": "2026-01-01"},
        "metadata.page": 3,
    }
    async with serve() as running, connect(running.url) as client:
        await client.trace("limit", claims(labels=("staff",), source="secret"), filters=filters)
    where = running.engine.requests[0].where
    assert where.source == "secret"
    assert where.labels == ("staff",)
    assert dict(where.fields)["source"] == "guide"
    assert dict(where.fields)["heading"] == ("Section 1", "Section 2")
    assert dict(where.fields)["metadata.page"] == 3


@pytest.mark.parametrize(
    ("filters", "profile", "code"),
    [
        ({"heading": []}, "", "bad_request"),
        ({"updated_at": {}}, "", "bad_request"),
        ({"updated_at": {"after": "2026"}}, "", "bad_request"),
        ({"updated_at": {"gte": True}}, "", "bad_request"),
        ({"heading": {"deep": {"er": {"est": 1}}}}, "", "bad_arguments"),
        ({}, "no-such-profile", "bad_request"),
    ],
)
async def test_a_filter_that_means_nothing_or_an_unknown_profile_is_refused(
    filters: dict[str, JsonValue], profile: str, code: str
) -> None:
    async with serve() as running, connect(running.url) as client:
        with pytest.raises(ToolRefusedError) as refused:
            await client.trace("limit", claims(), filters=filters, profile=profile)
    assert refused.value.code == code


async def test_only_visible_chunks_are_measured() -> None:
    async with serve() as running, connect(running.url) as client:
        ids = [chunk.chunk_id for chunk in running.engine.chunks]
        public = await client.measure("limit", ids, claims())
        staff = await client.measure("limit", ids, claims(labels=("staff",)))
        nothing = await client.measure("limit", (), claims())
    assert list(public.cosines) == ids[:-1]
    assert list(staff.cosines) == ids
    assert nothing.index.build == running.engine.build


async def test_texts_are_embedded_by_the_model_of_the_index() -> None:
    async with serve() as running, connect(running.url) as client:
        result = await client.embed(["one", "two"])
    assert result.model == "fake-model"
    assert [len(vector) for vector in result.vectors] == [3, 3]


async def test_an_audit_that_cannot_be_read_is_said_to_be_unavailable() -> None:
    async with serve() as running, connect(running.url) as client:
        running.sink.refuses = True
        with pytest.raises(KnowledgeUnavailableError):
            await client.read_audit("ask-1")


async def test_evidence_is_fitted_under_the_asks_labels_and_recorded_with_its_tokens() -> None:
    async with serve() as running, connect(running.url) as client:
        first, second, _, _, secret = (chunk.chunk_id for chunk in running.engine.chunks)
        fitted = await client.fit_evidence("limit", [first, second], claims(), budget_tokens=10)
        whole = await client.fit_evidence("limit", [secret], claims(labels=("staff",)))
        with pytest.raises(ToolRefusedError, match="no chunk"):
            await client.fit_evidence("limit", [first, secret], claims())
        rows = (await client.read_audit("ask-1")).rows
    assert [each.chunk_id for each in fitted.passages] == [first, second]
    assert 0 < fitted.tokens <= 10 < fitted.origin_tokens
    assert whole.passages[0].text == running.engine.chunks[-1].text
    assert [(row.tool, row.branch, row.error) for row in rows] == [
        ("fit_evidence", "service", ""),
        ("fit_evidence", "service", ""),
        ("fit_evidence", "service", "unknown_chunk"),
    ]
    assert (rows[0].tokens_in, rows[0].tokens_out) == (fitted.origin_tokens, fitted.tokens)
    assert rows[0].chunk_ids == tuple(each.chunk_id for each in fitted.passages if each.text)


async def test_a_repetition_of_known_evidence_is_left_out() -> None:
    engine = FakeEngine()
    text = engine.chunks[0].text
    twin = replace(engine.chunks[1], text=text)
    engine.chunks = (engine.chunks[0], twin)
    async with serve(opener=FakeOpener(engine)) as running, connect(running.url) as client:
        known, asked = (chunk.chunk_id for chunk in engine.chunks)
        fitted = await client.fit_evidence("limit", [asked], claims(), known_ids=[known])
    assert [(each.text, each.kept) for each in fitted.passages] == [("", ())]
    assert [(each.chunk_id, each.duplicate_of) for each in fitted.repeats] == [(asked, known)]
