"""One module object, two doors: equal results, equal refusals, equal audit rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import cast

import httpx
import pytest
from pydantic import JsonValue, SecretStr

from context import errors as context_errors
from context.errors import ContextError
from context.memory import VERSION
from knowledge.contracts import ToolFailure
from knowledge.pin import read_pin
from mcp_server import errors as server_errors
from mcp_server.errors import ToolServerError, failure_of, status_of
from mcp_server.origin import PLATFORM_HEADER, TRACE_HEADER
from mcp_server.tool_list import pin_of_this_code
from retrieval import errors as retrieval_errors
from retrieval.errors import RetrievalError
from tests.mcp_server.fakes import FakeEngine, FakeOpener
from tests.mcp_server.raw import modern_body, modern_headers
from tests.mcp_server.serving import TOKEN, Running, claims, serve, sign

CONTEXT_TOKEN = "context-token-for-tests"
TEXT = "The limit is 60 requests [1]. The office is in Lisbon. Support answers in a day. " * 3

CALLS: list[tuple[str, dict[str, JsonValue]]] = [
    ("compress_context", {"text": TEXT, "ratio": 0.4, "purpose": "the limit"}),
    ("compress_context", {"text": TEXT, "target_tokens": 10, "force": ["Lisbon"]}),
    ("compress_context", {"text": TEXT, "ratio": 0}),
    ("compress_context", {}),
    ("compress_context", {"text": TEXT, "target_tokens": 1, "force": ["The office is in Lisbon"]}),
    ("deduplicate", {"texts": ["a b", "A  B", "c"]}),
    ("deduplicate", {"records": [{"t": "a"}, {"t": "a"}], "fields": ["t"]}),
    ("deduplicate", {"texts": ["a"], "threshold": 7}),
    ("pack_context", {"query": "what is the limit?", "budget_tokens": 40}),
    ("search_memory", {"query": "tea", "scope": {}}),
    ("search_memory", {"query": "tea", "scope": {"user_id": "ada"}, "filters": {"OR": []}}),
    ("search_memory", {"query": "tea", "scope": {"user_id": "ada"}}),
    ("forget", {"scope": {"user_id": "nobody"}}),
    ("forget", {"scope": 3}),
    ("no_such_tool", {}),
]


async def over_mcp(
    server: Running, tool: str, arguments: Mapping[str, JsonValue], token: str = CONTEXT_TOKEN
) -> tuple[bool, object]:
    async with httpx.AsyncClient() as client:
        answer = await client.post(
            f"{server.url}/mcp/context",
            headers=modern_headers("tools/call", name=tool, token=token),
            json=modern_body("tools/call", {"name": tool, "arguments": dict(arguments)}),
        )
    assert answer.status_code == 200, answer.text
    body = answer.text
    if "data:" in body:
        body = next(line for line in body.splitlines() if line.startswith("data:"))[5:]
    result = json.loads(body)["result"]
    if result.get("isError"):
        return True, json.loads(result["content"][0]["text"])
    return False, result["structuredContent"]


async def over_rest(
    server: Running,
    tool: str,
    arguments: Mapping[str, JsonValue],
    *,
    token: str = CONTEXT_TOKEN,
    headers: Mapping[str, str] | None = None,
) -> httpx.Response:
    async with httpx.AsyncClient() as client:
        return await client.post(
            f"{server.url}/api/v1/context/{tool}",
            headers={"authorization": f"Bearer {token}", **(headers or {})},
            json=dict(arguments),
        )


def serve_context(
    tmp_path: Path, *, opener: FakeOpener | None = None, **changes: object
) -> AbstractAsyncContextManager[Running]:
    token = SecretStr(CONTEXT_TOKEN)
    return serve(
        opener=opener,
        sink=None,
        port=0,
        registry=None,
        context_token=token,
        data_dir=tmp_path,
        **changes,
    )


def without_spending(result: object) -> object:
    if not isinstance(result, dict):
        return result
    fields = cast("dict[str, object]", result)
    return {name: value for name, value in fields.items() if name != "budget"}


@pytest.mark.parametrize(("tool", "arguments"), CALLS, ids=lambda each: str(each)[:40])
async def test_both_doors_give_equal_results_and_equal_audit_rows(
    tmp_path: Path, tool: str, arguments: dict[str, JsonValue]
) -> None:
    async with serve_context(tmp_path) as server:
        is_error, result = await over_mcp(server, tool, arguments)
        answer = await over_rest(server, tool, arguments)

        assert without_spending(answer.json()) == without_spending(result)
        if is_error:
            assert answer.status_code == status_of(ToolFailure.model_validate(result))
        else:
            assert answer.status_code == 200
            assert answer.json()["budget"]["used"]["calls"] == 2

    per_call = {"milliseconds", "created_at", "request_id"}
    rows = [row.model_dump(exclude=per_call) for row in server.sink.stored]
    assert len(rows) == 2
    assert rows[0] == rows[1]
    assert rows[0]["caller"] == "context"
    assert bool(rows[0]["error"]) == is_error


async def test_what_one_door_remembers_the_other_finds(tmp_path: Path) -> None:
    scope: JsonValue = {"user_id": "ada"}
    async with serve_context(tmp_path) as server:
        kept = await over_rest(server, "remember", {"content": "Ada drinks tea.", "scope": scope})
        _, found = await over_mcp(
            server, "search_memory", {"query": "Ada drinks tea.", "scope": scope}
        )
        signed = sign(claims("direct", ask_id="", scopes=("context",)))
        other = await over_rest(
            server, "search_memory", {"query": "tea", "scope": scope}, token=signed
        )

    assert kept.status_code == 200
    memories = cast("dict[str, list[dict[str, str]]]", found)["memories"]
    assert [memory["content"] for memory in memories] == ["Ada drinks tea."]
    assert other.json()["memories"] == []


async def test_a_pack_stays_within_its_budget_and_accounts_for_every_stage(
    tmp_path: Path,
) -> None:
    async with serve_context(tmp_path) as server:
        answer = await over_rest(
            server, "pack_context", {"query": "what is the limit?", "budget_tokens": 25}
        )
    (row,) = server.sink.stored

    pack = answer.json()
    assert pack["tokens"] <= 25
    stages = [stage["stage"] for stage in pack["ledger"]]
    assert stages == ["search", "rerank", "deduplicate", "compress"]
    assert pack["ledger"][1]["note"] == "the profile has no reranker"
    assert pack["ledger"][0]["tokens"] - pack["tokens"] == sum(
        stage["saved_tokens"] for stage in pack["ledger"]
    )
    assert [passage["chunk_id"] for passage in pack["passages"]] == list(row.chunk_ids)
    assert row.tokens_out == pack["budget"]["tokens_out"] == pack["tokens"]
    assert "secret" not in answer.text


@pytest.mark.parametrize(
    ("token", "status"),
    [(TOKEN, 403), ("nobody", 401), (sign(claims(scopes=("search",))), 403)],
)
async def test_another_scope_opens_neither_door(tmp_path: Path, token: str, status: int) -> None:
    async with serve_context(tmp_path) as server:
        rest = await over_rest(server, "deduplicate", {"texts": []}, token=token)
        async with httpx.AsyncClient() as client:
            mcp = await client.post(
                f"{server.url}/mcp/context",
                headers=modern_headers("tools/list", token=token),
                json=modern_body("tools/list", {}),
            )

    assert rest.status_code == status
    assert mcp.status_code == status


async def test_the_context_token_opens_no_other_tools(tmp_path: Path) -> None:
    async with serve_context(tmp_path) as server, httpx.AsyncClient() as client:
        for path in ("/mcp", "/mcp/service"):
            answer = await client.post(
                server.url + path,
                headers=modern_headers("tools/list", token=CONTEXT_TOKEN),
                json=modern_body("tools/list", {}),
            )
            assert answer.status_code == 403


async def test_a_spent_run_is_refused_and_another_run_is_not(tmp_path: Path) -> None:
    async with serve_context(tmp_path, context_calls_per_run=1) as server:

        async def call(run: str) -> httpx.Response:
            headers = {TRACE_HEADER: run, PLATFORM_HEADER: "tests"}
            return await over_rest(server, "deduplicate", {"texts": ["a"]}, headers=headers)

        first, second, third = await call("one"), await call("one"), await call("two")

    assert first.status_code == third.status_code == 200
    assert second.status_code == 422
    assert second.json()["code"] == "budget_spent"


@pytest.mark.parametrize("body", [b"[1]", b"{", b'"x"', b"\xff"])
async def test_a_body_that_is_no_object_is_refused(tmp_path: Path, body: bytes) -> None:
    headers = {
        "authorization": f"Bearer {CONTEXT_TOKEN}",
        "content-type": "application/json",
    }
    async with serve_context(tmp_path) as server, httpx.AsyncClient() as client:
        url = f"{server.url}/api/v1/context/deduplicate"
        answer = await client.post(url, headers=headers, content=body)

    assert answer.status_code == 422
    assert answer.json()["code"] == "bad_arguments"


async def test_foreign_hosts_and_pages_are_refused(tmp_path: Path) -> None:
    async with serve_context(tmp_path) as server:
        host = await over_rest(server, "deduplicate", {}, headers={"host": "evil.example"})
        page = await over_rest(server, "deduplicate", {}, headers={"origin": "http://evil.example"})

    assert host.status_code == 421
    assert page.status_code == 403


async def test_without_an_index_the_refusal_says_to_come_back(tmp_path: Path) -> None:
    async with serve_context(tmp_path, opener=FakeOpener()) as server:
        answer = await over_rest(server, "deduplicate", {"texts": ["a"]})

    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "1"
    assert answer.json()["code"] == "index_unavailable"


STATUSES = {
    "bad_input": 422,
    "unscoped": 422,
    "bad_filter": 422,
    "does_not_fit": 422,
    "budget_spent": 422,
    "context_error": 422,
    "index_unavailable": 503,
    "unknown_tool": 404,
    "rate_limited": 429,
    "overloaded": 503,
    "audit_unavailable": 503,
    "internal_error": 500,
}
KINDS = [
    kind
    for module, root in (
        (context_errors, ContextError),
        (retrieval_errors, RetrievalError),
        (server_errors, ToolServerError),
    )
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, root)
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_error_has_one_code_and_one_status(kind: type[ContextError]) -> None:
    failure = failure_of(kind("the reason"))

    assert failure.code == kind.code
    assert failure.message == "the reason"
    assert status_of(failure) == STATUSES.get(failure.code, 422)


async def test_the_answering_agents_tools_and_their_digest_did_not_change() -> None:
    assert (await pin_of_this_code()).digest == read_pin().digest


async def test_the_engine_is_asked_with_the_labels_of_the_token(tmp_path: Path) -> None:
    engine = FakeEngine()
    token = sign(claims("direct", ask_id="", scopes=("context",), labels=("staff",)))
    async with serve_context(tmp_path, opener=FakeOpener(engine)) as server:
        await over_rest(
            server, "pack_context", {"query": "limit", "budget_tokens": 500}, token=token
        )

    assert engine.requests[0].where.labels == ("staff",)


async def test_searches_of_memories_are_counted_with_their_form(tmp_path: Path) -> None:
    scope: dict[str, JsonValue] = {"user_id": "ada"}
    async with serve_context(tmp_path) as server:
        await over_rest(server, "remember", {"content": "Ada drinks tea.", "scope": scope})
        asked: dict[str, JsonValue] = {"query": "Ada drinks tea.", "scope": scope, "threshold": 0.5}
        await over_rest(server, "search_memory", asked)
        nothing: dict[str, JsonValue] = {
            "filters": {"AND": [{"a": 1}, {"NOT": {"b": 2}}]}, "rerank": True, "top_k": 20,
        }  # fmt: skip
        await over_rest(server, "search_memory", {**asked, **nothing})
        async with httpx.AsyncClient() as client:
            shown = (await client.get(f"{server.url}/metrics")).text
    for form, reranking in (("none", "off"), ("AND+NOT", "failed")):
        labels = f'filter="{form}",rerank="{reranking}",version="{VERSION}"'
        assert f"vouch_memory_searches_total{{{labels}}} 1.0" in shown
    assert 'vouch_memory_hits_bucket{le="0.0"} 1.0' in shown
    assert 'vouch_memory_hits_bucket{le="1.0"} 2.0' in shown
    assert 'vouch_memory_limit_bucket{le="5.0"} 1.0' in shown
    assert "vouch_memory_threshold_cosine_sum 1.0" in shown


async def test_a_caller_without_calls_left_for_the_day_is_refused_in_every_run(
    tmp_path: Path,
) -> None:
    async with serve_context(tmp_path, context_calls_per_day=1) as server:
        arguments: dict[str, JsonValue] = {"texts": ["one", "two"]}
        first = await over_rest(server, "deduplicate", arguments)
        runs = [
            await over_rest(server, "deduplicate", arguments, headers={"X-Vouch-Trace-Id": run})
            for run in ("a", "b")
        ]
        is_error, refused = await over_mcp(server, "deduplicate", arguments)
    assert first.json()["budget"]["left"]["calls"] == 0
    assert [(each.status_code, each.json()["code"]) for each in runs] == [
        (422, "budget_spent"),
        (422, "budget_spent"),
    ]
    assert is_error
    assert cast("dict[str, object]", refused)["code"] == "budget_spent"
