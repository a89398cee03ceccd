"""Every door holds keys and addresses to their rates, each in its own form."""

from __future__ import annotations

import httpx
import pytest
from prometheus_client import CollectorRegistry

from agent.errors import ModelRestingError
from backend.edge.rates import network_of
from backend.settings import ApiSettings
from knowledge.errors import KnowledgeLimitedError
from service.circuits import Circuits
from service.limiter import LimiterDownError, LocalLimiter, SharedLimiter
from service.rate import Rate, Standing
from tests.backend.conftest import Connect
from tests.backend.fakes import FakeAgent, fails, says
from tests.backend.test_ask import ANSWER, QUESTION, strong
from tests.backend.test_gate import make_key

BODY = {"question": QUESTION}
DOORS: list[tuple[str, str, dict[str, str] | None]] = [
    ("POST", "/ask", BODY),
    ("POST", "/api/v1/retrieval/search", {"query": QUESTION}),
    ("POST", "/mcp", {}),
    ("POST", "/api/v1/context/deduplicate", {}),
    ("GET", "/api/v1/ingestion/jobs", None),
    ("GET", "/openapi.json", None),
    ("GET", "/nowhere", None),
]


async def one_left(connect: Connect, **changes: object) -> httpx.AsyncClient:
    client = await connect(strong(), FakeAgent(says(ANSWER)), **changes)
    assert (await client.get("/asks/x")).headers["ratelimit"].startswith('"address";r=0;t=')
    return client


@pytest.mark.parametrize(("method", "path", "body"), DOORS)
async def test_an_address_over_its_rate_gets_a_problem_document_at_every_door(
    connect: Connect, method: str, path: str, body: dict[str, str] | None
) -> None:
    client = await one_left(connect, requests_per_minute_per_address=1)
    refused = await client.request(method, path, json=body)
    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
    assert refused.headers["content-type"] == "application/problem+json"
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert refused.headers["ratelimit-policy"] == '"address";q=1;w=60'
    assert refused.headers["ratelimit"].startswith('"address";r=0;t=')
    assert (await client.get("/healthz")).status_code == 200
    assert (await client.get("/static/vouch.css")).status_code == 200


async def test_a_person_over_the_rate_gets_a_page_that_says_when(connect: Connect) -> None:
    client = await one_left(connect, requests_per_minute_per_address=1)
    refused = await client.post("/", data={"question": QUESTION}, headers={"accept": "text/html"})
    assert refused.status_code == 429
    assert "That was a lot of questions" in refused.text
    assert f"{refused.headers['retry-after']} seconds" in refused.text


async def test_a_chat_client_over_the_rate_gets_the_error_it_knows(connect: Connect) -> None:
    client = await one_left(connect, requests_per_minute_per_address=1)
    reply = await client.post("/v1/chat/completions", json={})
    error = reply.json()["error"]
    assert (reply.status_code, error["type"], error["code"]) == (
        429, "rate_limit_error", "rate_limited",
    )  # fmt: skip
    assert "retry-after" in reply.headers


async def test_each_key_has_a_rate_of_its_own(connect: Connect, settings: ApiSettings) -> None:
    client = await connect(
        strong(), FakeAgent(says(ANSWER)), anonymous_ask=False, requests_per_minute_per_key=1
    )
    first, second = await make_key(settings, "ask"), await make_key(settings, "ask")
    passed = await client.post("/ask", json=BODY, headers=first)
    assert (passed.status_code, passed.headers["ratelimit"][:9]) == (200, '"key";r=0')
    refused = await client.post("/ask", json=BODY, headers=first)
    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
    assert refused.headers["ratelimit-policy"] == '"key";q=1;w=60'
    assert (await client.post("/ask", json=BODY, headers=second)).status_code == 200


async def test_guessing_keys_is_limited_before_a_key_is_looked_at(connect: Connect) -> None:
    client = await connect(
        strong(), FakeAgent(says(ANSWER)), anonymous_ask=False, requests_per_minute_per_address=2
    )
    guesses = [{"authorization": f"Bearer vk_{number}_x"} for number in range(3)]
    statuses = [
        (await client.post("/ask", json=BODY, headers=guess)).status_code for guess in guesses
    ]
    assert statuses == [401, 401, 429]


async def test_what_the_tool_server_limits_is_429_and_says_when(connect: Connect) -> None:
    knowledge = strong()
    knowledge.failures["guard"] = [KnowledgeLimitedError("too often", retry_after_seconds=7)]
    client = await connect(knowledge, FakeAgent(says(ANSWER)))
    refused = await client.post("/ask", json=BODY)
    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
    assert refused.headers["retry-after"] == "7"


class DownLimiter:
    async def arrive(self, key: str, rate: Rate) -> Standing:
        raise LimiterDownError("down")

    async def close(self) -> None:
        return None


async def test_a_shared_limiter_that_is_down_is_said_and_the_limits_still_hold(
    connect: Connect,
) -> None:
    registry = CollectorRegistry()
    circuits = Circuits(registry)
    limiter = SharedLimiter(DownLimiter(), LocalLimiter(), circuits.of("redis", failures=1))
    client = await connect(
        strong(), FakeAgent(says(ANSWER)), limiter=limiter, circuits=circuits,
        requests_per_minute_per_address=2,
    )  # fmt: skip
    answered = await client.post("/ask", json=BODY)
    assert answered.json()["degraded"] == ["redis_circuit_open"]
    ready = await client.get("/readyz")
    assert (ready.status_code, ready.json()["checks"]["redis"]["status"]) == (200, "degraded")
    assert registry.get_sample_value("vouch_circuit_state", {"service": "redis"}) == 2
    assert (await client.get("/asks/x")).status_code == 404
    assert (await client.post("/ask", json=BODY)).status_code == 429


def test_one_hosts_many_addresses_are_one() -> None:
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff:1") == "2001:db8::/64"
    assert network_of("::ffff:192.0.2.1") == "192.0.2.1"
    assert network_of("testclient") == "testclient"
    assert network_of("") == "unknown"


def test_only_a_service_that_others_reach_limits_addresses_by_itself(settings: ApiSettings) -> None:
    assert settings.address_rate is None
    served = settings.model_copy(update={"allowed_hosts": ("docs.example",)})
    assert served.address_rate == Rate(300)
    assert served.model_copy(update={"requests_per_minute_per_address": 0}).address_rate is None


async def test_a_model_that_is_left_alone_is_502_and_says_until_when(connect: Connect) -> None:
    resting = ModelRestingError("model failed again and again", retry_after_seconds=9)
    client = await connect(strong(), FakeAgent(fails(resting)))
    refused = await client.post("/ask", json=BODY)
    assert (refused.status_code, refused.json()["code"]) == (502, "model_unavailable")
    assert refused.headers["retry-after"] == "9"
