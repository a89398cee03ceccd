"""The widget: offered to listed origins only, by headers that browsers obey."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from backend.settings import ApiSettings
from tests.backend.conftest import Connect
from tests.backend.factories import make_result
from tests.backend.fakes import FakeAgent, FakeKnowledge, says
from tests.environment import environment

ORIGINS = ("https://docs.example", "http://127.0.0.1:4321")
QUESTION = "What is the text of c1?"


def knowledge() -> FakeKnowledge:
    return FakeKnowledge(results={QUESTION: make_result("c1", query=QUESTION)})


async def test_widget_is_off_until_an_origin_is_named(connect: Connect) -> None:
    client = await connect(knowledge(), FakeAgent(says("The text of c1 [1].")))
    replies = [
        await client.get("/widget"),
        await client.get("/widget.js"),
        await client.post("/widget", data={"question": QUESTION}),
    ]
    assert [reply.status_code for reply in replies] == [404, 404, 404]
    assert all(reply.headers["x-frame-options"] == "DENY" for reply in replies)
    assert "widget_off" in replies[0].text


async def test_only_the_frame_may_be_shown_and_only_by_listed_origins(connect: Connect) -> None:
    client = await connect(
        knowledge(), FakeAgent(says("The text of c1 [1].")), widget_origins=ORIGINS
    )
    for reply in (
        await client.get("/widget"),
        await client.post("/widget", data={"question": "?"}),
    ):
        policy = reply.headers["content-security-policy"]
        assert policy.endswith("frame-ancestors https://docs.example http://127.0.0.1:4321")
        assert "script-src 'self'" in policy
        assert "x-frame-options" not in reply.headers
        assert reply.headers["cross-origin-resource-policy"] == "cross-origin"
    loader = await client.get("/widget.js")
    assert loader.headers["content-type"].startswith("text/javascript")
    assert loader.headers["cross-origin-resource-policy"] == "cross-origin"
    for path in ("/", "/history", "/a/x", "/static/vouch.js"):
        page = await client.get(path, headers={"accept": "text/html"})
        assert page.headers["x-frame-options"] == "DENY"
        assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
        assert page.headers["cross-origin-resource-policy"] == "same-origin"


async def test_answer_in_the_widget_is_the_guarded_one_with_its_citations(
    connect: Connect,
) -> None:
    client = await connect(
        knowledge(), FakeAgent(says("The text of c1 [1].")), widget_origins=ORIGINS
    )
    page = (await client.post("/widget", data={"question": QUESTION})).text
    assert 'href="#c-1"' in page
    assert 'id="c-1"' in page
    streamed = (await client.post("/widget/stream", data={"question": QUESTION})).text
    before, verdict, after = streamed.partition("data-done")
    assert verdict
    assert 'id="c-1"' in after
    assert 'id="c-1"' not in before
    too_short = await client.post("/widget", data={"question": "  "})
    assert too_short.status_code == 422
    assert "Write a question first" in too_short.text


@pytest.mark.parametrize(
    "origin",
    [
        "*",
        "https://*.example",
        "docs.example",
        "https://docs.example/path",
        "https://docs.example; script-src *",
        "https://docs.example'",
        "javascript://x",
    ],
)
@pytest.mark.parametrize("name", ["VOUCH_WIDGET_ORIGINS", "ALLOWED_ORIGINS"])
def test_origin_that_is_none_is_refused_at_the_start(name: str, origin: str) -> None:
    with environment(**{name: origin}), pytest.raises(ValidationError, match=name):
        ApiSettings()


def test_origins_come_from_the_environment() -> None:
    with environment(VOUCH_WIDGET_ORIGINS=", ".join(ORIGINS)):
        assert ApiSettings().widget_origins == ORIGINS
