"""The Python client against running processes."""

from __future__ import annotations

import inspect

import pytest

from tests.e2e.conftest import StartApi
from tests.e2e.installation import Process, pick_port
from vouch_client import (
    Answer,
    AsyncVouch,
    Done,
    EvidenceFound,
    InvalidRequestError,
    NotAuthenticatedError,
    NotFoundError,
    Refusal,
    UnreachableError,
    VerdictReached,
    Vouch,
)

QUESTION = "How do I rotate the signing key?"
EGG = "How long should I boil an egg for a runny yolk?"


def test_answer_refusal_and_record_come_back_typed(plain_api: Process) -> None:
    with Vouch(plain_api.url) as vouch:
        answer = vouch.ask(QUESTION)
        assert isinstance(answer, Answer)
        assert answer.citations
        assert answer.citations[0].quote in answer.passages[0].text
        assert vouch.find(answer.id) == answer
        refusal = vouch.ask(EGG)
        assert isinstance(refusal, Refusal)
        assert refusal.reason == "weak_evidence"
        assert refusal.text == "I could not find this in the documentation."
        follow_up = vouch.ask("and how long does the old one stay valid?", after=answer)
        assert follow_up.conversation_id == answer.id


def test_nothing_of_an_answer_comes_before_the_verdict(plain_api: Process) -> None:
    with Vouch(plain_api.url) as vouch:
        events = list(vouch.stream(QUESTION))
        kinds = [type(event) for event in events]
        assert kinds.index(EvidenceFound) < kinds.index(VerdictReached) < kinds.index(Done)
        assert kinds[-1] is Done
        done = events[-1]
        assert isinstance(done, Done)
        streamed, plain = done.reply, vouch.ask(QUESTION)
        assert isinstance(streamed, Answer)
        assert isinstance(plain, Answer)
        assert (streamed.text, streamed.citations) == (plain.text, plain.citations)


def test_stream_that_is_left_is_given_up(plain_api: Process) -> None:
    with Vouch(plain_api.url) as vouch:
        stream = vouch.stream(QUESTION)
        next(stream)
        stream.close()
        assert inspect.getgeneratorstate(stream) == inspect.GEN_CLOSED
        assert isinstance(vouch.ask(EGG), Refusal)


async def test_asynchronous_client_gets_the_same(plain_api: Process) -> None:
    async with AsyncVouch(plain_api.url) as vouch:
        answer = await vouch.ask(QUESTION)
        assert isinstance(answer, Answer)
        events = [event async for event in vouch.stream(QUESTION)]
        assert isinstance(events[-1], Done)
        assert events[-1].reply.text == answer.text
        assert await vouch.find(answer.id) == answer


def test_what_goes_wrong_is_a_typed_error(plain_api: Process, start_api: StartApi) -> None:
    with Vouch(plain_api.url) as vouch:
        with pytest.raises(InvalidRequestError) as invalid:
            vouch.ask("  ")
        assert "question" in invalid.value.fields[0].field
        with pytest.raises(InvalidRequestError):
            list(vouch.stream(QUESTION, top_k=0))
        with pytest.raises(NotFoundError) as missing:
            vouch.find("nothing")
        assert missing.value.code == "unknown_ask"
    closed = start_api(VOUCH_ANONYMOUS_ASK="false")
    with Vouch(closed.url) as stranger, pytest.raises(NotAuthenticatedError):
        stranger.ask(QUESTION)
    with Vouch(f"http://127.0.0.1:{pick_port()}") as nobody, pytest.raises(UnreachableError):
        nobody.ask(QUESTION)
