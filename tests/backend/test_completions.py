"""The official OpenAI client takes the service for a model, and the guard stays in force."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

import httpx2
import openai
import pytest
from openai.types.chat import ChatCompletionMessageParam

from backend.api.completions_form import stream_completion, to_completion, write_content
from backend.app import create_app
from backend.caller import ANONYMOUS
from backend.contract import AskRequest
from backend.services import Services
from backend.settings import DEFAULT_ABSTENTION_SENTENCE, ApiSettings
from knowledge.errors import KnowledgeUnavailableError
from tests.backend.conftest import Compose
from tests.backend.fakes import FakeAgent, FakeKnowledge, says
from tests.backend.test_ask import ANSWER, QUESTION, strong, weak
from tests.backend.test_conversation import FIRST, SECOND, VAGUE, ManySources, knows_both
from tests.browser.answers import make_answer, make_hostile_answer

Open = Callable[[FakeKnowledge], Awaitable[openai.AsyncOpenAI]]


@pytest.fixture
async def open_client(settings: ApiSettings, make_services: Compose) -> AsyncIterator[Open]:
    async with AsyncExitStack() as stack:

        async def make(knowledge: FakeKnowledge) -> openai.AsyncOpenAI:
            services = await make_services(knowledge, FakeAgent(says(ANSWER)))

            @asynccontextmanager
            async def opener(_: ApiSettings) -> AsyncGenerator[Services]:
                yield services

            app = create_app(settings, opener)
            await stack.enter_async_context(app.router.lifespan_context(app))
            transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
            client = openai.AsyncOpenAI(
                api_key="unused",
                base_url="http://127.0.0.1:8000/v1",
                http_client=httpx2.AsyncClient(transport=transport),
                max_retries=0,
            )
            return await stack.enter_async_context(client)

        yield make


def user(text: str) -> ChatCompletionMessageParam:
    return {"role": "user", "content": text}


async def test_client_lists_the_model(open_client: Open) -> None:
    client = await open_client(strong())
    assert [model.id async for model in client.models.list()] == ["vouch"]
    assert (await client.models.retrieve("vouch")).owned_by == "vouch"


async def test_answer_has_footnotes_and_annotations_at_their_markers(open_client: Open) -> None:
    client = await open_client(strong())
    reply = await client.chat.completions.create(model="vouch", messages=[user(QUESTION)])
    message = reply.choices[0].message
    content = message.content or ""
    assert content.startswith("The text of c1 [^1].")
    assert "[^1]: A title › A heading <https://docs.example/c1>" in content
    assert reply.choices[0].finish_reason == "stop"
    cited = (message.annotations or [])[0].url_citation
    assert content[cited.start_index : cited.end_index] == "[^1]"
    assert cited.url == "https://docs.example/c1"
    verdict = (reply.model_extra or {})["vouch"]
    assert verdict["abstained"] is False
    assert reply.id == f"chatcmpl-{verdict['ask_id']}"


async def test_refusal_is_the_fixed_sentence_and_says_why(open_client: Open) -> None:
    client = await open_client(weak())
    reply = await client.chat.completions.create(model="vouch", messages=[user(QUESTION)])
    choice = reply.choices[0]
    assert (choice.message.content, choice.finish_reason) == (DEFAULT_ABSTENTION_SENTENCE, "stop")
    assert choice.message.annotations == []
    verdict = (reply.model_extra or {})["vouch"]
    assert (verdict["abstained"], verdict["reason"]) == (True, "weak_evidence")


@pytest.mark.parametrize("knowledge", [strong, weak])
async def test_streamed_reply_equals_the_plain_one(
    open_client: Open, knowledge: Callable[[], FakeKnowledge]
) -> None:
    client = await open_client(knowledge())
    plain = await client.chat.completions.create(model="vouch", messages=[user(QUESTION)])
    stream = await client.chat.completions.create(
        model="vouch",
        messages=[user(QUESTION)],
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = [chunk async for chunk in stream]
    text = "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)
    assert text == plain.choices[0].message.content
    ends = [choice.finish_reason for chunk in chunks for choice in chunk.choices]
    assert ends == [None, "stop"]
    verdict = (chunks[1].model_extra or {})["vouch"]
    assert verdict["abstained"] == (plain.model_extra or {})["vouch"]["abstained"]
    assert chunks[-1].usage is not None
    streamed = (chunks[0].choices[0].delta.model_extra or {})["annotations"]
    annotations = plain.choices[0].message.annotations or []
    assert streamed == [each.model_dump() for each in annotations]


async def test_earlier_user_messages_complete_a_follow_up_and_answers_do_not(
    open_client: Open,
) -> None:
    client = await open_client(knows_both())
    reply = await client.chat.completions.create(
        model="vouch",
        messages=[
            {"role": "system", "content": "Answer everything."},
            user(FIRST),
            {"role": "assistant", "content": "Prime numbers are divisible by one."},
            {"role": "user", "content": [{"type": "text", "text": "and on Windows?"}]},
        ],
    )
    assert (reply.model_extra or {})["vouch"]["search_question"] == SECOND


async def test_question_without_a_subject_is_asked_back_in_the_content(open_client: Open) -> None:
    client = await open_client(ManySources(results=knows_both().results))
    reply = await client.chat.completions.create(model="vouch", messages=[user(VAGUE)])
    assert "- does A heading support SSO?" in (reply.choices[0].message.content or "")
    assert (reply.model_extra or {})["vouch"]["status"] == "needs_clarification"


async def test_errors_arrive_as_the_clients_own(open_client: Open) -> None:
    knowledge = strong()
    client = await open_client(knowledge)
    with pytest.raises(openai.NotFoundError, match="404"):
        await client.chat.completions.create(model="gpt", messages=[user(QUESTION)])
    with pytest.raises(openai.UnprocessableEntityError):
        await client.chat.completions.create(model="vouch", messages=[user("   ")])
    knowledge.failures["guard"] = [KnowledgeUnavailableError("down"), KnowledgeUnavailableError("")]
    with pytest.raises(openai.InternalServerError, match="503"):
        await client.chat.completions.create(model="vouch", messages=[user(QUESTION)])
    stream = await client.chat.completions.create(
        model="vouch", messages=[user(QUESTION)], stream=True
    )
    with pytest.raises(openai.APIError, match="cannot be reached"):
        [chunk async for chunk in stream]


async def test_no_byte_of_an_answer_is_sent_before_the_verdict(make_services: Compose) -> None:
    knowledge = strong()
    knowledge.gates["guard"] = asyncio.Event()
    agent = FakeAgent(says(ANSWER))
    services = await make_services(knowledge, agent)
    events = services.asker.ask(AskRequest(question=QUESTION), ANONYMOUS)
    pieces = stream_completion(await anext(events), events, has_usage=False)
    sent = await anext(pieces)
    await agent.started.wait()
    knowledge.gates["guard"].set()
    async for piece in pieces:
        if b": VerdictReached" in piece:
            assert b"data:" not in sent
        sent += piece
    assert sent.index(b"VerdictReached") < sent.index(b"The text of c1")
    assert sent.endswith(b"data: [DONE]\n\n")
    lines = [line[6:] for line in sent.decode().splitlines() if line.startswith("data: {")]
    assert [json.loads(line)["object"] for line in lines] == ["chat.completion.chunk"] * 2


def test_every_citation_of_an_answer_has_one_footnote() -> None:
    response = make_answer()
    content, annotations = write_content(response)
    numbers = [citation.number for citation in response.citations]
    assert [content.count(f"[^{number}]: ") for number in numbers] == [1] * len(numbers)
    for annotation in annotations:
        cited = annotation.url_citation
        assert content[cited.start_index : cited.end_index] == f"[^{cited.number}]"


def test_titles_of_others_are_no_markup_in_a_footnote() -> None:
    completion = to_completion(make_hostile_answer())
    notes = (completion.choices[0].message.content or "").split("\n\n[^1]: ")[1]
    assert "\\<img" in notes
    assert "javascript:" not in notes
