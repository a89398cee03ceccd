"""The Python client on what a service may send, the wrong things included."""

from __future__ import annotations

import json

import httpx
import pytest

from backend.api.stream import encode_event
from backend.contract import AskResponse
from backend.events import Done as ServerDone
from backend.problems import Problem
from tests.browser.answers import make_answer, make_clarification, make_refusal
from vouch_client import (
    Answer,
    AsyncVouch,
    Clarification,
    Condensed,
    Done,
    ForbiddenError,
    InvalidRequestError,
    NotAuthenticatedError,
    NotFoundError,
    ProblemError,
    ProtocolError,
    RateLimitedError,
    Refusal,
    ServiceUnavailableError,
    UnreachableError,
    Vouch,
)


def answering(response: httpx.Response, sent: list[httpx.Request] | None = None) -> Vouch:
    def handle(request: httpx.Request) -> httpx.Response:
        if sent is not None:
            sent.append(request)
        return response

    return Vouch("http://vouch.example", key="k", transport=httpx.MockTransport(handle))


def body(response: AskResponse) -> bytes:
    return response.model_dump_json(by_alias=True).encode()


@pytest.mark.parametrize(
    ("response", "kind"),
    [(make_answer(), Answer), (make_refusal(), Refusal), (make_clarification(), Clarification)],
)
def test_reply_is_typed_by_what_it_came_to(response: AskResponse, kind: type) -> None:
    with answering(httpx.Response(200, content=body(response))) as vouch:
        reply = vouch.ask("q?")
    assert type(reply) is kind
    assert (reply.id, reply.text) == (response.id, response.answer)
    assert reply.verdict.passed is response.guard.passed
    assert [one.chunk_id for one in reply.passages] == [
        one.chunk_id for one in response.retrieved_chunks
    ]


def test_answer_has_citations_and_refusal_has_its_reason() -> None:
    with answering(httpx.Response(200, content=body(make_answer()))) as vouch:
        answer = vouch.ask("q?")
    assert isinstance(answer, Answer)
    assert [(one.number, one.verified) for one in answer.citations] == [(1, True), (2, False)]
    with answering(httpx.Response(200, content=body(make_refusal()))) as vouch:
        refusal = vouch.ask("q?")
    assert isinstance(refusal, Refusal)
    assert (refusal.reason, refusal.missing_terms) == ("weak_evidence", ("yolk", "egg", "boil"))


def test_request_carries_the_key_and_the_conversation() -> None:
    sent: list[httpx.Request] = []
    with answering(httpx.Response(200, content=body(make_answer())), sent) as vouch:
        first = vouch.ask("q?", source="docs", top_k=8)
        vouch.ask("and then?", after=first)
        vouch.ask("and then?", after="mine", search_question="what then?")
    assert sent[0].headers["authorization"] == "Bearer k"
    assert [json.loads(request.content) for request in sent] == [
        {"question": "q?", "top_k": 8, "source": "docs"},
        {"question": "and then?", "top_k": 4, "conversation_id": first.id},
        {
            "question": "and then?", "top_k": 4, "conversation_id": "mine",
            "search_question": "what then?",
        },
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, NotAuthenticatedError),
        (403, ForbiddenError),
        (404, NotFoundError),
        (422, InvalidRequestError),
        (429, RateLimitedError),
        (500, ProblemError),
        (502, ServiceUnavailableError),
        (503, ServiceUnavailableError),
        (504, ServiceUnavailableError),
    ],
)
def test_problem_document_becomes_a_typed_error(status: int, kind: type[ProblemError]) -> None:
    problem = Problem(title="No", status=status, code="some_code", detail="because")
    response = httpx.Response(
        status, content=problem.model_dump_json(), headers={"retry-after": "7"}
    )
    with answering(response) as vouch, pytest.raises(ProblemError) as caught:
        vouch.ask("q?")
    assert type(caught.value) is kind
    assert str(caught.value) == "No (some_code): because"
    assert (caught.value.code, caught.value.retry_after_seconds) == ("some_code", 7.0)


@pytest.mark.parametrize(
    "response",
    [
        httpx.Response(200, text="<html>"),
        httpx.Response(200, json={"status": "answered"}),
        httpx.Response(200, json={"status": "something new"}),
        httpx.Response(502, text="Bad Gateway"),
    ],
)
def test_something_else_than_vouch_is_told_apart(response: httpx.Response) -> None:
    with answering(response) as vouch, pytest.raises(ProtocolError):
        vouch.ask("q?")
    with answering(response) as vouch, pytest.raises(ProtocolError):
        list(vouch.stream("q?"))


def test_no_connection_is_told_apart() -> None:
    def fail(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    with Vouch(transport=httpx.MockTransport(fail)) as vouch:
        for act in (
            lambda: vouch.ask("q?"),
            lambda: list(vouch.stream("q?")),
            lambda: vouch.find("x"),
        ):
            with pytest.raises(UnreachableError, match="refused"):
                act()


CONDENSED = b'event: condensed\ndata: {"ask_id": "a", "search_question": "q"}\n\n'
DONE = encode_event(ServerDone(make_answer()))


def streaming(*pieces: bytes) -> Vouch:
    return answering(
        httpx.Response(200, content=b"".join(pieces), headers={"content-type": "text/event-stream"})
    )


def test_stream_yields_its_stages_and_skips_what_it_does_not_know() -> None:
    unknown = b": a comment\n\nevent: later\ndata: {}\n\n"
    with streaming(CONDENSED, unknown, DONE) as vouch:
        events = list(vouch.stream("q?"))
    assert [type(event) for event in events] == [Condensed, Done]
    assert isinstance(events[1], Done)
    assert events[1].reply.text == make_answer().answer


def test_stream_that_fails_or_is_cut_off_says_so() -> None:
    problem = Problem(title="No", status=503, code="knowledge_unavailable").model_dump_json()
    failed = f"event: problem\ndata: {problem}\n\n".encode()
    with streaming(CONDENSED, failed) as vouch, pytest.raises(ServiceUnavailableError):
        list(vouch.stream("q?"))
    with streaming(CONDENSED) as vouch, pytest.raises(ProtocolError, match="ended before"):
        list(vouch.stream("q?"))
    broken = b"event: condensed\ndata: []\n\n"
    with streaming(broken) as vouch, pytest.raises(ProtocolError, match="condensed"):
        list(vouch.stream("q?"))


async def test_asynchronous_client_does_the_same() -> None:
    def handle(request: httpx.Request) -> httpx.Response:
        if "event-stream" in request.headers.get("accept", ""):
            headers = {"content-type": "text/event-stream"}
            return httpx.Response(200, content=CONDENSED + DONE, headers=headers)
        if request.url.raw_path == b"/asks/a%2Fb":
            return httpx.Response(
                404, content=Problem(title="No", status=404, code="x").model_dump_json()
            )
        return httpx.Response(200, content=body(make_refusal()))

    async with AsyncVouch(transport=httpx.MockTransport(handle)) as vouch:
        assert isinstance(await vouch.ask("q?"), Refusal)
        events = [event async for event in vouch.stream("q?")]
        assert [type(event) for event in events] == [Condensed, Done]
        with pytest.raises(NotFoundError):
            await vouch.find("a/b")
