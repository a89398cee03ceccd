"""What is refused before any tool sees it, and what every response carries."""

from __future__ import annotations

from dataclasses import replace

import httpx
import pytest
from prometheus_client import CollectorRegistry
from pydantic import JsonValue

from knowledge.client_channel import INSTANCE_HEADER
from retrieval.metrics import RetrievalMetrics
from tests.mcp_server.raw import call_modern, modern_body, modern_headers, result_of
from tests.mcp_server.serving import claims, serve, sign

QUERY: dict[str, JsonValue] = {"query": "limit"}


async def test_a_foreign_host_is_refused() -> None:
    async with serve() as running:
        response = await call_modern(
            running.url, "search_kb", QUERY, headers={"host": "evil.example"}
        )
        assert running.engine.requests == []
    assert response.status_code == 421


async def test_a_foreign_origin_is_refused() -> None:
    async with serve() as running:
        response = await call_modern(
            running.url, "search_kb", QUERY, headers={"origin": "http://evil.example"}
        )
        assert running.engine.requests == []
    assert response.status_code == 403


@pytest.mark.parametrize("path", ["/mcp", "/mcp/service"])
async def test_no_token_no_call(path: str) -> None:
    async with serve() as running:
        response = await call_modern(running.url, "search_kb", QUERY, path=path, token=None)
    assert response.status_code == 401
    assert response.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize(
    "token",
    [
        "fixed-token-for-test",
        sign(claims())[:-2] + "xx",
        sign(claims()).partition(".")[0] + ".",
        sign(replace(claims(), expires_at=1.0)),
        "é" * 40,
        "." * 10_000,
    ],
    ids=["nearly", "forged", "unsigned", "expired", "not-ascii", "dots"],
)
async def test_a_token_that_is_not_ours_is_refused(token: str) -> None:
    async with serve() as running:
        headers = modern_headers("tools/call", name="search_kb", token=None)
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        raw.append((b"authorization", b"Bearer " + token.encode()))
        async with httpx.AsyncClient(trust_env=False) as client:
            response = await client.post(
                f"{running.url}/mcp",
                headers=raw,
                json=modern_body("tools/call", {"name": "search_kb", "arguments": QUERY}),
            )
    assert response.status_code == 401


async def test_a_search_token_does_not_open_the_service_tools() -> None:
    async with serve() as running:
        for token in (sign(claims()), "fixed-token-for-tests"):
            response = await call_modern(
                running.url, "read_audit", {"ask_id": "a"}, path="/mcp/service", token=token
            )
            assert response.status_code == 403


async def test_a_service_token_does_not_open_the_search_tools() -> None:
    async with serve() as running:
        token = sign(claims("service", scopes=("service",)))
        response = await call_modern(running.url, "search_kb", QUERY, token=token)
    assert response.status_code == 403


async def test_a_body_over_the_limit_is_refused() -> None:
    async with serve(mcp_body_limit_bytes=1024) as running:
        response = await call_modern(running.url, "search_kb", {"query": "x" * 2000})
    assert response.status_code == 413


async def test_the_path_needs_no_redirect() -> None:
    async with serve() as running:
        response = await call_modern(running.url, "search_kb", QUERY)
    assert response.history == []
    assert response.status_code == 200


async def test_a_fit_request_id_is_kept_and_an_unfit_one_replaced() -> None:
    async with serve() as running:
        kept = await call_modern(
            running.url, "search_kb", QUERY, headers={"x-request-id": "abc-123"}
        )
        replaced = await call_modern(
            running.url, "search_kb", QUERY, headers={"x-request-id": 'a"b\\c' * 30}
        )
    assert kept.headers["x-request-id"] == "abc-123"
    assert replaced.headers["x-request-id"].isalnum()


async def test_every_response_names_the_process() -> None:
    async with serve() as first, serve() as second:
        names = [
            (await call_modern(running.url, "search_kb", QUERY)).headers[INSTANCE_HEADER]
            for running in (first, first, second)
        ]
    assert names[0] == names[1] != names[2]


async def test_health_and_metrics_need_no_token() -> None:
    async with serve() as running:
        await call_modern(running.url, "search_kb", QUERY)
        async with httpx.AsyncClient(trust_env=False) as client:
            health = await client.get(f"{running.url}/healthz")
            metrics = await client.get(f"{running.url}/metrics")
    assert health.json()["process"] == "mcp"
    assert 'vouch_tool_call_seconds_count{branch="direct",tool="search_kb"} 1.0' in metrics.text
    assert "vouch_search_best_cosine_count 1.0" in metrics.text
    assert "vouch_index_up 1.0" in metrics.text
    assert "vouch_index_chunks 3.0" in metrics.text


async def test_what_the_engine_counts_is_among_the_metrics() -> None:
    registry = CollectorRegistry()
    RetrievalMetrics(registry).degraded.labels("rerank_failed").inc()
    async with serve(registry=registry) as running, httpx.AsyncClient(trust_env=False) as client:
        metrics = await client.get(f"{running.url}/metrics")
    assert 'vouch_retrieval_degraded_total{stage="rerank_failed"} 1.0' in metrics.text


async def test_arguments_that_break_the_schema_name_the_field() -> None:
    async with serve() as running:
        answer = result_of(await call_modern(running.url, "search_kb", {"query": "", "top_k": 99}))
    assert answer["isError"] is True
    text = str(answer["content"])
    assert "bad_arguments" in text
    assert "query" in text
    assert "top_k" in text


async def test_an_unknown_tool_is_refused_in_the_same_form() -> None:
    async with serve() as running:
        answer = result_of(await call_modern(running.url, "drop_tables", {}))
    assert "unknown_tool" in str(answer["content"])


async def test_text_that_is_no_unicode_is_refused_and_recorded() -> None:
    async with serve() as running:
        body = b"""{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_kb",
            "arguments":{"query":"half \\ud800 pair"},"_meta":{
            "io.modelcontextprotocol/protocolVersion":"2026-07-28",
            "io.modelcontextprotocol/clientCapabilities":{}}}}"""
        headers = modern_headers("tools/call", name="search_kb")
        headers["content-type"] = "application/json"
        async with httpx.AsyncClient(trust_env=False) as client:
            response = await client.post(f"{running.url}/mcp", headers=headers, content=body)
        await running.sink.wrote.wait()
    assert "bad_arguments" in str(result_of(response)["content"])
    assert running.sink.stored[0].arguments == {"query": "half ? pair"}
