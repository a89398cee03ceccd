"""Only what a listed proxy says of a sender counts, read from its right end."""

from __future__ import annotations

import pytest
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from backend.edge.proxies import ProxyMiddleware, TrustedProxies, read_address, read_networks
from tests.backend.conftest import Connect
from tests.backend.fakes import FakeAgent, says
from tests.backend.test_ask import ANSWER, QUESTION, strong

LISTED = read_networks(["127.0.0.1", "10.1.0.0/16", "2001:db8:1::/48"])
BY_XFF = TrustedProxies(LISTED)
BY_FORWARDED = TrustedProxies(LISTED, "forwarded")


@pytest.mark.parametrize(
    ("peer", "said", "sender"),
    [
        ("127.0.0.1", "", "127.0.0.1"),
        ("127.0.0.1", "192.0.2.1", "192.0.2.1"),
        # Nobody but a listed proxy is believed.
        ("192.0.2.9", "203.0.113.5", "192.0.2.9"),
        # What stands left of the right-most unlisted address came from the client itself.
        ("127.0.0.1", "203.0.113.5, 192.0.2.1", "192.0.2.1"),
        ("127.0.0.1", "203.0.113.5, 192.0.2.1, 10.1.2.3", "192.0.2.1"),
        ("127.0.0.1", "127.0.0.1, 192.0.2.1", "192.0.2.1"),
        # All of them listed: the first one is a proxy that asks for itself.
        ("127.0.0.1", "10.1.0.1, 10.1.0.2", "10.1.0.1"),
        # Malformed: what is to the right of it still stands.
        ("127.0.0.1", "evil, 10.1.0.2", "10.1.0.2"),
        ("127.0.0.1", "unknown", "127.0.0.1"),
        ("127.0.0.1", "192.0.2.1:4711", "192.0.2.1"),
        ("127.0.0.1", "[2001:db8:2::7]:4711", "2001:db8:2::7"),
        ("::ffff:127.0.0.1", "::ffff:192.0.2.1", "192.0.2.1"),
        ("testclient", "192.0.2.1", "testclient"),
    ],
)
def test_the_sender_is_the_right_most_address_that_is_no_proxy(
    peer: str, said: str, sender: str
) -> None:
    headers = Headers({"x-forwarded-for": said, "forwarded": "for=198.51.100.1"})
    assert BY_XFF.sender(peer, headers)[0] == sender


def test_several_lines_of_a_header_are_one_list() -> None:
    lines = [(b"x-forwarded-for", b"203.0.113.5"), (b"x-forwarded-for", b"192.0.2.1")]
    assert BY_XFF.sender("127.0.0.1", Headers(raw=lines))[0] == "192.0.2.1"


@pytest.mark.parametrize(
    ("said", "sender", "scheme"),
    [
        ("for=192.0.2.1;proto=https", "192.0.2.1", "https"),
        ('for=203.0.113.5, For="[2001:db8:2::7]:80" ; Proto=HTTPS', "2001:db8:2::7", "https"),
        ("for=_hidden;proto=https", "127.0.0.1", ""),
        ("proto=https", "127.0.0.1", ""),
        ("for=192.0.2.1;proto=gopher", "192.0.2.1", ""),
    ],
)
def test_the_standard_header_is_read_when_the_proxies_set_that_one(
    said: str, sender: str, scheme: str
) -> None:
    headers = Headers({"forwarded": said, "x-forwarded-for": "198.51.100.1"})
    assert BY_FORWARDED.sender("127.0.0.1", headers) == (sender, scheme)


def test_the_scheme_is_what_the_nearest_proxy_says() -> None:
    headers = Headers({"x-forwarded-for": "192.0.2.1", "x-forwarded-proto": "http, https"})
    assert BY_XFF.sender("127.0.0.1", headers) == ("192.0.2.1", "https")
    assert BY_XFF.sender("192.0.2.9", headers) == ("192.0.2.9", "")


async def test_the_application_sees_the_sender_and_the_scheme() -> None:
    seen: list[tuple[object, object]] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append((scope["client"], scope["scheme"]))

    async def receive() -> Message:
        raise AssertionError("nothing is read")

    async def send(_: Message) -> None:
        raise AssertionError("nothing is sent")

    headers = [(b"x-forwarded-for", b"192.0.2.1"), (b"x-forwarded-proto", b"https")]
    for peer in ("127.0.0.1", "198.51.100.7"):
        scope = {"type": "http", "client": (peer, 5), "scheme": "http", "headers": headers}
        await ProxyMiddleware(app, BY_XFF)(scope, receive, send)
    assert seen == [(("192.0.2.1", 0), "https"), (("198.51.100.7", 5), "http")]


async def test_behind_a_proxy_each_client_has_a_rate_of_its_own(connect: Connect) -> None:
    client = await connect(
        strong(), FakeAgent(says(ANSWER)), trusted_proxies=("127.0.0.1",),
        requests_per_minute_per_address=1,
    )  # fmt: skip

    async def status(sender: str) -> int:
        return (await client.get("/asks/x", headers={"x-forwarded-for": sender})).status_code

    assert [await status(sender) for sender in ("192.0.2.1", "192.0.2.2", "192.0.2.1")] == [
        404, 404, 429,
    ]  # fmt: skip


async def test_without_a_listed_proxy_a_client_cannot_choose_its_address(connect: Connect) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)), requests_per_minute_per_address=1)
    statuses = [
        (await client.get("/asks/x", headers={"x-forwarded-for": f"192.0.2.{n}"})).status_code
        for n in range(2)
    ]
    assert statuses == [404, 429]


async def test_a_link_to_a_record_has_the_scheme_that_the_reader_used(connect: Connect) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)), trusted_proxies=("127.0.0.1",))
    headers = {"x-forwarded-for": "192.0.2.1", "x-forwarded-proto": "https"}
    page = await client.post("/", data={"question": QUESTION}, headers=headers)
    assert "https://127.0.0.1:8000/ask" in page.text


def test_what_is_no_address_is_none() -> None:
    assert [read_address(text) for text in ("", "unknown", "_x", "1.2.3")] == [None] * 4
    with pytest.raises(ValueError, match="host bits"):
        read_networks(["10.0.0.1/8"])
