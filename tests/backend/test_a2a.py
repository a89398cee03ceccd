"""Another agent asks by Agent2Agent: the card, guarded answers, typed refusals and errors."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from pydantic import JsonValue, SecretStr

from backend.api.a2a import A2A_PATH, CARD_PATH
from backend.settings import DEFAULT_ABSTENTION_SENTENCE
from knowledge.errors import KnowledgeUnavailableError
from tests.backend.conftest import Connect
from tests.backend.fakes import FakeAgent, FakeKnowledge, says
from tests.backend.test_ask import ANSWER, QUESTION, strong, weak


def call(method: str = "SendMessage", **params: JsonValue) -> dict[str, JsonValue]:
    return {"jsonrpc": "2.0", "id": "call-1", "method": method, "params": params}


def message(text: str = QUESTION, **fields: JsonValue) -> dict[str, JsonValue]:
    return {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": text}], **fields}


async def send(client: httpx.AsyncClient, body: dict[str, JsonValue]) -> dict[str, Any]:
    reply = await client.post(A2A_PATH, json=body)
    found: dict[str, Any] = reply.json()
    assert (reply.status_code, found["jsonrpc"]) == (200, "2.0")
    return found


async def test_the_card_says_where_to_ask_and_needs_no_key(connect: Connect) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)), anonymous_ask=False)
    card = (await client.get(CARD_PATH)).json()
    (interface,) = card["supportedInterfaces"]
    assert interface["url"].endswith(A2A_PATH)
    assert (interface["protocolBinding"], interface["protocolVersion"]) == ("JSONRPC", "1.0")
    assert card["capabilities"] == {"streaming": False, "pushNotifications": False}
    assert [skill["id"] for skill in card["skills"]] == ["ask"]
    assert card["securitySchemes"]["key"]["httpAuthSecurityScheme"]["scheme"] == "Bearer"


async def test_a_message_is_answered_with_its_citations_and_has_a_record(connect: Connect) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)))
    reply = await send(client, call(message=message(contextId="talk-1")))
    assert reply["id"] == "call-1"
    answer = reply["result"]["message"]
    text, data = answer["parts"]
    assert (answer["role"], answer["contextId"]) == ("ROLE_AGENT", "talk-1")
    assert "[1]" in text["text"]
    found = data["data"]
    assert (found["status"], found["fidelity"]) == ("answered", "exact")
    assert [citation["number"] for citation in found["citations"]] == [1]
    record = (await client.get(f"/asks/{found['ask_id']}")).json()
    assert record["answer"] == text["text"]
    assert found["record"].endswith(f"/asks/{record['id']}")


async def test_a_refusal_is_a_message_with_its_type_and_no_citation(connect: Connect) -> None:
    client = await connect(weak(), FakeAgent(says(ANSWER)))
    answer = (await send(client, call(message=message())))["result"]["message"]
    text, data = answer["parts"]
    assert text["text"] == DEFAULT_ABSTENTION_SENTENCE
    assert data["data"]["abstained"] is True
    assert data["data"]["abstention"]["reason"] == "weak_evidence"
    assert data["data"]["citations"] == []
    assert answer["contextId"] == data["data"]["ask_id"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"jsonrpc": "1.0", "method": "SendMessage"}, -32600),
        (call("Dance"), -32601),
        (call(message={"role": "ROLE_USER"}), -32602),
        (call(message=message("why " * 1000)), -32602),
        (call(message=message(contextId="x" * 65)), -32602),
        (call(message={**message(), "parts": [{"url": "https://x.example"}]}), -32005),
        (call("GetTask", id="t1"), -32001),
        (call("SendStreamingMessage", message=message()), -32004),
        (call("CreateTaskPushNotificationConfig"), -32003),
    ],
)
async def test_a_call_that_cannot_be_answered_has_the_protocols_code(
    connect: Connect, body: dict[str, JsonValue], code: int
) -> None:
    knowledge = strong()
    client = await connect(knowledge, FakeAgent(says(ANSWER)))
    assert (await send(client, body))["error"]["code"] == code
    assert knowledge.calls == []


async def test_what_is_no_json_and_another_version_are_refused(connect: Connect) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)))
    broken = await client.post(A2A_PATH, content=b"{")
    assert broken.json()["error"]["code"] == -32700
    old = await client.post(A2A_PATH, json=call(message=message()), headers={"A2A-Version": "0.3"})
    assert old.json()["error"]["code"] == -32009


async def test_a_service_that_is_down_says_so_with_status_and_problem(connect: Connect) -> None:
    knowledge = FakeKnowledge(failures={"guard": [KnowledgeUnavailableError("it is away")]})
    client = await connect(knowledge, FakeAgent(says(ANSWER)))
    reply = await client.post(A2A_PATH, json=call(message=message()))
    assert reply.status_code == 503
    error = reply.json()["error"]
    assert (error["code"], error["data"]["code"]) == (-32603, "knowledge_unavailable")


async def test_where_a_key_is_needed_no_message_is_answered_without_one(connect: Connect) -> None:
    client = await connect(
        strong(), FakeAgent(says(ANSWER)), anonymous_ask=False, admin_token=SecretStr("a" * 32)
    )
    refused = await client.post(A2A_PATH, json=call(message=message()))
    assert refused.status_code == 401
    admitted = await client.post(
        A2A_PATH,
        json=call(message=message()),
        headers={"Authorization": f"Bearer {'a' * 32}"},
    )
    assert admitted.json()["result"]["message"]["role"] == "ROLE_AGENT"
