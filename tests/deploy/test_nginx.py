"""nginx with the shipped configuration in front of the real application."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI, Request
from prometheus_client import CollectorRegistry
from pydantic import JsonValue, SecretStr

from backend.app import create_app
from backend.services import Services, compose
from backend.settings import ApiSettings
from storage import migrate
from storage.database import Database, database_url
from tests.backend.fakes import FakeAgent, FakeKnowledge, says
from tests.backend.test_ask import ANSWER, QUESTION, strong
from tests.browser.serving import Serving, serve
from tests.deploy.proxy import NAME, Proxy, run_proxy
from tests.e2e.installation import Installation

BODY = {"question": QUESTION}


@contextmanager
def application(folder: Path, knowledge: FakeKnowledge) -> Generator[Serving]:
    """Serve the real application, with a tool server and an agent that tests can hold."""
    url = database_url("", folder, "vouch")
    migrate.upgrade(url)
    settings = ApiSettings(
        data_dir=folder,
        database_url=url,
        signing_key=SecretStr("0123456789abcdef"),
        allowed_hosts=(NAME,),
        trusted_proxies=("127.0.0.1",),
        env="prod",
        anonymous_ask=True,
    )

    @asynccontextmanager
    async def opener(_: ApiSettings) -> AsyncGenerator[Services]:
        database = Database(url)
        registry = CollectorRegistry()
        agent = FakeAgent(says(ANSWER))
        yield compose(settings, knowledge, agent, database=database, registry=registry)
        await database.close()

    with serve(lambda: create_app(settings, opener)) as running:
        yield running


def make_echo() -> FastAPI:
    """Return an application that says which headers reached it."""
    app = FastAPI()

    @app.post("/mcp")
    async def echo(request: Request) -> dict[str, str]:
        return dict(request.headers)

    return app


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    folder = tmp_path_factory.mktemp("proxied")
    with application(folder, strong()) as api, serve(make_echo) as mcp:
        (folder / "nginx").mkdir()
        with run_proxy(folder / "nginx", api=api.url, mcp=mcp.url) as running:
            yield running


def test_an_answer_comes_over_tls_and_http2(proxy: Proxy) -> None:
    with proxy.client(http2=True) as client:
        reply = client.post("/ask", json=BODY)
    assert (reply.status_code, reply.http_version) == (200, "HTTP/2")
    assert reply.json()["answer"] == ANSWER


def test_a_link_to_an_answer_has_the_scheme_and_name_of_the_outside(proxy: Proxy) -> None:
    with proxy.client() as client:
        page = client.post("/", data={"question": QUESTION}, headers={"accept": "text/html"})
    assert f"https://{NAME}/ask" in page.text


def test_plain_http_leads_to_tls_and_keeps_the_request(proxy: Proxy) -> None:
    reply = httpx.post(f"{proxy.plain}/ask?x=1", headers={"host": NAME}, trust_env=False)
    assert (reply.status_code, reply.headers["location"]) == (308, f"https://{NAME}/ask?x=1")


def test_the_headers_of_both_hold_together(proxy: Proxy) -> None:
    with proxy.client() as client:
        headers = client.get("/").headers
    assert headers["strict-transport-security"].startswith("max-age=")
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["server"] == "nginx"
    assert headers["x-request-id"]


def test_stages_arrive_while_the_ask_is_still_running(tmp_path: Path) -> None:
    gate = asyncio.Event()
    knowledge = strong()
    knowledge.gates["guard"] = gate
    (tmp_path / "nginx").mkdir()
    with (
        application(tmp_path, knowledge) as api,
        run_proxy(tmp_path / "nginx", api=api.url, mcp=api.url) as proxy,
        proxy.client() as client,
        client.stream("POST", "/ask", json=BODY, headers={"accept": "text/event-stream"}) as reply,
    ):
        lines = reply.iter_lines()
        # The search waits for the gate, so a proxy that buffers would never send this line.
        assert next(lines) == "event: condensed"
        api.run(gate.set)
        names = [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]
    assert names[-1] == "done"


def test_a_body_over_the_limit_never_reaches_the_application(proxy: Proxy) -> None:
    with proxy.client() as client:
        reply = client.post("/ask", content=b"x" * 200_000)
    assert reply.status_code == 413
    assert "nginx" in reply.text


@pytest.mark.parametrize("path", ["/metrics", "/readyz", "/mcp/service", "/docs", "/redoc"])
def test_what_is_not_for_the_outside_is_not_there(proxy: Proxy, path: str) -> None:
    with proxy.client() as client:
        assert client.get(path).status_code == 404


def test_the_api_document_is_not_shown_without_a_key(proxy: Proxy) -> None:
    with proxy.client() as client:
        reply = client.get("/openapi.json")
    assert (reply.status_code, "paths" in reply.json()) == (401, False)


def test_a_foreign_host_and_a_foreign_page_are_refused(proxy: Proxy) -> None:
    with proxy.client() as client:
        page = client.post("/ask", json=BODY, headers={"origin": "https://evil.example"})
    assert (page.status_code, page.json()["code"]) == (403, "foreign_request")


def test_only_the_headers_of_an_mcp_client_reach_the_tool_server(proxy: Proxy) -> None:
    ours = {
        "authorization": "Bearer t",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "search_kb",
    }
    foreign = {
        "cookie": "a=b",
        "x-forwarded-for": "10.0.0.1",
        "x-real-ip": "10.0.0.1",
        "forwarded": "for=10.0.0.1",
        "x-user": "root",
        "origin": "https://evil.example",
        "proxy-authorization": "Basic x",
        "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    }
    with proxy.client() as client:
        seen = client.post("/mcp", json={"jsonrpc": "2.0"}, headers=ours | foreign).json()
    assert ours.items() <= seen.items()
    assert not foreign.keys() & seen.keys()
    assert seen["host"] == "127.0.0.1:8001"
    assert len(seen["x-request-id"]) == 32


def test_a_caller_cannot_claim_another_address(tmp_path: Path) -> None:
    app = FastAPI()

    @app.get("/")
    async def echo(request: Request) -> dict[str, str]:
        return dict(request.headers)

    (tmp_path / "nginx").mkdir()
    with (
        serve(lambda: app) as api,
        run_proxy(tmp_path / "nginx", api=api.url, mcp=api.url) as proxy,
        proxy.client() as client,
    ):
        seen = client.get("/", headers={"x-forwarded-for": "10.0.0.1", "x-real-ip": "10.0.0.1"})
    assert seen.json()["x-forwarded-for"] == "127.0.0.1"
    assert seen.json()["x-real-ip"] == "127.0.0.1"


def test_the_real_tool_server_answers_through_it(tmp_path: Path) -> None:
    installation = Installation(tmp_path)
    installation.prepare()
    installation.mcp.start()
    (tmp_path / "nginx").mkdir()
    meta: dict[str, JsonValue] = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    message: dict[str, JsonValue] = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": "search_kb",
            "arguments": {"query": "How do I rotate the signing key?"},
            "_meta": meta,
        },
    }
    headers = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "search_kb",
    }
    try:
        url = installation.mcp.url
        with run_proxy(tmp_path / "nginx", api=url, mcp=url) as proxy, proxy.client() as client:
            refused = client.post("/mcp", json=message, headers=headers)
            assert refused.status_code == 401
            token = {"authorization": "Bearer a-fixed-token"}
            reply = client.post("/mcp", json=message, headers=headers | token)
    finally:
        installation.mcp.stop()
    text = reply.text.rpartition("data:")[2] if "data:" in reply.text else reply.text
    assert json.loads(text)["result"]["structuredContent"]["hits"]


def test_too_many_questions_at_once_are_429_and_others_still_served(proxy: Proxy) -> None:
    # The last of this module: it uses up what its address is allowed.
    with proxy.client() as client:
        statuses = Counter(client.post("/ask", json=BODY).status_code for _ in range(40))
        assert set(statuses) == {200, 429}
        # What passes is the burst and what the rate gives meanwhile, which the clock decides.
        assert statuses[429] > 0
        assert client.get("/healthz").status_code == 200
