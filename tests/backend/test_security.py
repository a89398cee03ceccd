"""Foreign hosts, foreign pages, oversized bodies, and the headers of every response."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from starlette.datastructures import Headers

from backend.edge.security import Perimeter
from tests.backend.conftest import Connect
from tests.backend.fakes import FakeAgent, says
from tests.backend.test_ask import ANSWER, QUESTION, strong

BODY = {"question": QUESTION}
FRIEND = "https://friend.example"


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "evil.example:8000"},
        {"host": "127.0.0.1.evil.example"},
        {"host": ""},
        {"host": "[::1"},
        {"host": "[evil]:8000"},
        {"origin": "http://["},
        {"origin": "http://[::1]x:8000"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "https://127.0.0.1:9999"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://127.0.0.1:8000", "sec-fetch-site": "cross-site"},
    ],
)
async def test_what_a_foreign_page_makes_a_browser_send_is_refused(
    connect: Connect, headers: dict[str, str]
) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)))
    for path in ("/ask", "/", "/api/v1/retrieval/search"):
        reply = await client.post(path, json=BODY, headers=headers)
        assert (reply.status_code, reply.json()["code"]) == (403, "foreign_request")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"host": "localhost:8000"},
        {"host": "[::1]:8000"},
        {"host": "docs.example"},
        {"origin": "http://127.0.0.1:8000", "sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "none"},
        {"origin": FRIEND, "sec-fetch-site": "cross-site"},
    ],
)
async def test_own_and_allowed_callers_pass(connect: Connect, headers: dict[str, str]) -> None:
    client = await connect(
        strong(),
        FakeAgent(says(ANSWER)),
        allowed_hosts=("docs.example",),
        anonymous_ask=True,
        allowed_origins=(FRIEND,),
    )
    assert (await client.post("/ask", json=BODY, headers=headers)).status_code == 200


async def test_a_foreign_host_reads_nothing_either(connect: Connect) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)))
    foreign = {"host": "evil.example"}
    assert (await client.get("/asks/x", headers=foreign)).status_code == 403
    assert (await client.get("/healthz", headers=foreign)).status_code == 200


async def test_only_named_origins_may_read_answers(connect: Connect) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)), allowed_origins=(FRIEND,))
    preflight = {"origin": FRIEND, "access-control-request-method": "POST",
                 "access-control-request-headers": "Authorization, Content-Type"}  # fmt: skip
    allowed = await client.options("/ask", headers=preflight)
    assert allowed.status_code == 200
    assert allowed.headers["access-control-allow-origin"] == FRIEND
    methods = {name.strip() for name in allowed.headers["access-control-allow-methods"].split(",")}
    assert methods == {"GET", "POST", "OPTIONS"}
    refused = await client.options("/ask", headers=preflight | {"origin": "http://evil.example"})
    assert "access-control-allow-origin" not in refused.headers
    refused = await client.options(
        "/ask", headers=preflight | {"access-control-request-method": "DELETE"}
    )
    assert refused.status_code == 400
    reply = await client.post("/ask", json={}, headers={"origin": FRIEND})
    assert (reply.status_code, reply.headers["access-control-allow-origin"]) == (422, FRIEND)


async def test_an_oversized_body_is_refused_with_or_without_its_length(connect: Connect) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)), request_limit_bytes=1024)
    large = b'{"question": "' + b"a" * 2000 + b'"}'
    headers = {"content-type": "application/json"}
    reply = await client.post("/ask", content=large, headers=headers)
    assert (reply.status_code, reply.json()["code"]) == (413, "request_too_large")

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(large), 100):
            yield large[start : start + 100]

    reply = await client.post("/ask", content=pieces(), headers=headers)
    assert (reply.status_code, reply.json()["code"]) == (413, "request_too_large")


@pytest.mark.parametrize("path", ["/", "/healthz", "/nowhere", "/asks/x"])
async def test_every_response_has_the_security_headers(connect: Connect, path: str) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)))
    headers = (await client.get(path)).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-request-id"]


async def test_errors_never_carry_html(connect: Connect) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)))
    reply = await client.post("/ask", json={"question": "q", "<img onerror=x>": 1})
    assert reply.status_code == 422
    assert reply.headers["content-type"] == "application/problem+json"
    reply = await client.get("/asks/<script>alert(1)</script>")
    assert "<script>" not in reply.text


async def test_a_request_id_fit_for_a_log_is_kept_and_another_replaced(connect: Connect) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)))
    kept = await client.get("/healthz", headers={"x-request-id": "abc-123"})
    assert kept.headers["x-request-id"] == "abc-123"
    made = await client.get("/healthz", headers={"x-request-id": "a b\tc"})
    assert made.headers["x-request-id"] != "a b\tc"


@pytest.mark.parametrize(("site", "is_refused"), [("same-origin", False), ("cross-site", True)])
def test_a_plain_form_of_our_own_hides_its_origin_but_not_its_site(
    site: str, *, is_refused: bool
) -> None:
    perimeter = Perimeter(hosts=(), origins=(), limit_bytes=1000)
    headers = Headers({"host": "127.0.0.1:8000", "origin": "null", "sec-fetch-site": site})
    assert (perimeter.refuse("POST", "/", headers) is not None) == is_refused
    headers = Headers({"host": "127.0.0.1:8000", "origin": "null"})
    assert perimeter.refuse("POST", "/", headers) is not None
