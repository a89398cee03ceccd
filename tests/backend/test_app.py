"""The application over HTTP: bodies, errors, streams, records, health."""

from __future__ import annotations

import json

import pytest

from agent.errors import ModelGarbageError, ModelTimeoutError, ModelUnavailableError
from backend.settings import DEFAULT_ABSTENTION_SENTENCE, ApiSettings
from knowledge.errors import (
    KnowledgeError,
    KnowledgeTimeoutError,
    KnowledgeUnavailableError,
    ToolContractError,
    ToolRefusedError,
)
from tests.backend.conftest import Connect
from tests.backend.fakes import FakeAgent, fails, hangs, says
from tests.backend.test_ask import ANSWER, QUESTION, strong, weak
from tests.backend.test_gate import make_key

PROBLEM = "application/problem+json"


async def test_an_answer_comes_as_json_with_its_schema(connect: Connect) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)))
    reply = await client.post("/ask", json={"question": QUESTION})
    assert reply.status_code == 200
    body = reply.json()
    assert (body["schema"], body["status"], body["answer"]) == ("1", "answered", ANSWER)
    assert body["guard"]["best_cosine"] == 0.8
    assert '"score"' not in reply.text


async def test_a_refusal_is_a_normal_response(connect: Connect) -> None:
    client = await connect(weak(), FakeAgent(says(ANSWER)))
    reply = await client.post("/ask", json={"question": QUESTION})
    assert reply.status_code == 200
    body = reply.json()
    assert body["answer"] == DEFAULT_ABSTENTION_SENTENCE
    assert (body["abstained"], body["citations"]) == (True, [])
    assert body["abstention"]["reason"] == "weak_evidence"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"question": ""}, "question"),
        ({"question": "   "}, "question"),
        ({"question": "\u200b"}, "question"),
        ({"question": "a" * 2001}, "question"),
        ({"question": "a\x00b"}, "question"),
        ({"question": "a\x1bb"}, "question"),
        ({"question": 7}, "question"),
        ({"question": None}, "question"),
        ({}, "question"),
        ({"question": "q", "top_k": 0}, "top_k"),
        ({"question": "q", "top_k": 51}, "top_k"),
        ({"question": "q", "top_k": "4"}, "top_k"),
        ({"question": "q", "top_k": True}, "top_k"),
        ({"question": "q", "source": 3}, "source"),
        ({"question": "q", "source": "a\x07"}, "source"),
        ({"question": "q", "surprise": 1}, "surprise"),
        ([], "body"),
        ("q", "body"),
    ],
)
async def test_a_bad_body_is_refused_naming_the_field(
    connect: Connect, body: object, field: str
) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)))
    reply = await client.post("/ask", json=body)
    assert reply.status_code == 422
    assert reply.headers["content-type"] == PROBLEM
    problem = reply.json()
    assert problem["code"] == "invalid_request"
    assert field in {item["field"] for item in problem["errors"]}


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b'{"question": "\\ud800"}', b""])
async def test_a_body_that_is_no_text_is_a_problem_and_not_a_crash(
    connect: Connect, body: bytes
) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)))
    reply = await client.post("/ask", content=body, headers={"content-type": "application/json"})
    assert reply.status_code in {400, 422}
    assert reply.headers["content-type"] == PROBLEM


@pytest.mark.parametrize("media_type", ["", "text/plain", "application/x-www-form-urlencoded"])
async def test_a_body_of_another_type_is_told_which_type_is_read(
    connect: Connect, media_type: str
) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)))
    body = json.dumps({"question": QUESTION}).encode()
    reply = await client.post("/ask", content=body, headers={"content-type": media_type})
    assert reply.status_code == 422
    assert "application/json" in reply.json()["detail"]


@pytest.mark.parametrize("body", [b'{"question":"\xff\xfe"}', b'{"question":' + b"[" * 20_000])
async def test_a_body_that_cannot_be_read_says_so(connect: Connect, body: bytes) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)))
    reply = await client.post("/ask", content=body, headers={"content-type": "application/json"})
    assert reply.status_code == 400
    assert "UTF-8" in reply.json()["detail"]


async def test_a_question_at_the_limit_and_over_several_lines_is_taken(connect: Connect) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)))
    assert (await client.post("/ask", json={"question": "a" * 2000})).status_code == 200
    assert (await client.post("/ask", json={"question": "a\n\tb"})).status_code == 200


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (ModelUnavailableError("down"), 502, "model_unavailable"),
        (ModelGarbageError("<html>"), 502, "model_garbage"),
        (ModelTimeoutError("slow"), 504, "model_timeout"),
        (KnowledgeUnavailableError("down"), 503, "knowledge_unavailable"),
    ],
)
async def test_each_trouble_of_the_agent_has_its_status(
    connect: Connect, error: Exception, status: int, code: str
) -> None:
    client = await connect(strong(), FakeAgent(fails(error)))
    reply = await client.post("/ask", json={"question": QUESTION})
    assert (reply.status_code, reply.json()["code"]) == (status, code)
    assert reply.headers["content-type"] == PROBLEM


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (KnowledgeUnavailableError("down"), 503),
        (KnowledgeTimeoutError("slow"), 503),
        (ToolContractError("changed"), 503),
        (ToolRefusedError("input_too_long", "too long"), 422),
    ],
)
async def test_each_trouble_of_the_guards_search_has_its_status(
    connect: Connect, error: KnowledgeError, status: int
) -> None:
    knowledge = strong()
    knowledge.failures["guard"] = [error]
    client = await connect(knowledge, FakeAgent(says(ANSWER)))
    reply = await client.post("/ask", json={"question": QUESTION})
    assert (reply.status_code, reply.json()["code"]) == (status, error.code)
    assert ("retry-after" in reply.headers) == (status == 503)


async def test_over_time_is_504(connect: Connect) -> None:
    client = await connect(strong(), FakeAgent(hangs()), request_timeout_seconds=0.05)
    reply = await client.post("/ask", json={"question": QUESTION})
    assert (reply.status_code, reply.json()["code"]) == (504, "ask_timeout")


async def test_a_bug_is_a_problem_without_its_details(connect: Connect) -> None:
    client = await connect(strong(), FakeAgent(fails(RuntimeError("secret detail"))))
    reply = await client.post("/ask", json={"question": QUESTION})
    assert reply.status_code == 500
    assert reply.headers["content-type"] == PROBLEM
    assert "secret" not in reply.text
    assert reply.json()["code"] == "internal_error"


async def test_the_stages_come_as_events_and_nothing_leaks_before_the_verdict(
    connect: Connect,
) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)))
    plain = (await client.post("/ask", json={"question": QUESTION})).json()
    reply = await client.post(
        "/ask", json={"question": QUESTION}, headers={"accept": "text/event-stream"}
    )
    assert reply.headers["content-type"].startswith("text/event-stream")
    events = [
        (head.removeprefix("event: "), json.loads(data.removeprefix("data: ")))
        for head, data in (block.split("\n", 1) for block in reply.text.strip().split("\n\n"))
    ]
    assert [name for name, _ in events] == ["condensed", "evidence", "verdict", "drafted", "done"]
    done = events[-1][1]
    assert done["citations"] == plain["citations"]
    assert done["answer"] == plain["answer"]
    assert ANSWER not in json.dumps(events[:-1])


async def test_a_refusal_is_the_same_over_the_stream(connect: Connect) -> None:
    client = await connect(weak(), FakeAgent(says("It surely is [1].")))
    reply = await client.post(
        "/ask", json={"question": QUESTION}, headers={"accept": "text/event-stream"}
    )
    assert "surely" not in reply.text
    done = json.loads(reply.text.strip().split("data: ")[-1])
    assert (done["answer"], done["citations"]) == (DEFAULT_ABSTENTION_SENTENCE, [])


async def test_trouble_within_a_stream_is_its_last_event(connect: Connect) -> None:
    client = await connect(strong(), FakeAgent(fails(ModelUnavailableError("down"))))
    reply = await client.post(
        "/ask", json={"question": QUESTION}, headers={"accept": "text/event-stream"}
    )
    last = reply.text.strip().split("\n\n")[-1]
    assert last.startswith("event: problem\n")
    assert '"code": "model_unavailable"' in last


async def test_a_record_is_given_back_exactly(connect: Connect) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)))
    asked = (await client.post("/ask", json={"question": QUESTION})).json()
    assert (await client.get(f"/asks/{asked['id']}")).json() == asked
    record = (await client.get(f"/asks/{asked['id']}/record")).json()
    assert record["raw_text"] == ANSWER
    assert record["tool_calls"][0]["tool"] == "search_kb"


@pytest.mark.parametrize("ask_id", ["unheard-of", "..%2f..%2fsecrets", "%00"])
async def test_an_unknown_record_is_404(connect: Connect, ask_id: str) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)))
    reply = await client.get(f"/asks/{ask_id}")
    assert reply.status_code == 404
    assert reply.headers["content-type"] == PROBLEM


async def test_the_search_route_gives_what_guard_and_inspector_see(connect: Connect) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)))
    asked = (await client.post("/ask", json={"question": QUESTION})).json()
    found = (await client.post("/api/v1/retrieval/search", json={"query": QUESTION})).json()
    numbers = [(hit["chunk_id"], hit["cosine"]) for hit in found["hits"]]
    inspected = [(chunk["chunk_id"], chunk["cosine"]) for chunk in asked["retrieved_chunks"]]
    assert numbers == inspected
    assert found["signals"] == asked["guard"]["signals"]
    assert found["stages"]["selected"] == [chunk_id for chunk_id, _ in numbers]
    assert found["explanation"] is None
    bad = await client.post("/api/v1/retrieval/search", json={"query": ""})
    assert (bad.status_code, bad.json()["errors"][0]["field"]) == (422, "query")


async def test_the_search_route_takes_filters_a_number_and_a_chunk_to_explain(
    connect: Connect,
) -> None:
    knowledge = strong()
    client = await connect(knowledge, FakeAgent(says(ANSWER)))
    body: dict[str, object] = {
        "query": QUESTION,
        "profile_name": "default",
        "filters": {"source": ["docs", "guide"], "updated_at": {"gte": "2026-01-01"}},
        "top_n": 7,
        "explain": "no-such-chunk",
    }
    found = await client.post("/api/v1/retrieval/search", json=body)
    assert found.status_code == 200
    assert knowledge.traced == [(7, body["filters"])]
    explanation = found.json()["explanation"]
    assert (explanation["chunk_id"], explanation["kind"]) == ("no-such-chunk", "not_retrieved")


@pytest.mark.parametrize(
    "wrong",
    [{"profile": "no-such-profile"}, {"top_n": 0}, {"top_n": 51}, {"top_n": "5"}, {"top_k": 4},
     {"filters": ["source"]}],
)  # fmt: skip
async def test_the_search_route_refuses_what_it_does_not_know(
    connect: Connect, wrong: dict[str, object]
) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)))
    reply = await client.post("/api/v1/retrieval/search", json={"query": QUESTION, **wrong})
    assert reply.status_code == 422
    assert reply.headers["content-type"] == PROBLEM


async def test_health_says_alive_and_ready_says_what_is_down(connect: Connect) -> None:
    knowledge = strong()
    client = await connect(knowledge, FakeAgent(says(ANSWER)))
    assert (await client.get("/healthz")).status_code == 200
    ready = await client.get("/readyz")
    assert (ready.status_code, ready.json()["status"]) == (200, "ok")
    knowledge.index_failure = KnowledgeUnavailableError("the tool server is away")
    ready = await client.get("/readyz")
    assert ready.status_code == 503
    assert ready.json()["checks"]["knowledge"] == {
        "status": "down",
        "detail": "the tool server is away",
    }
    assert ready.json()["checks"]["database"]["status"] == "ok"


async def test_metrics_count_what_happened(connect: Connect) -> None:
    client = await connect(weak(), FakeAgent(says(ANSWER)))
    await client.post("/ask", json={"question": QUESTION})
    text = (await client.get("/metrics")).text
    assert 'vouch_asks_total{reason="weak_evidence",status="abstained"} 1.0' in text
    assert "vouch_asks_running 0.0" in text


async def test_unknown_paths_and_methods_are_problems(connect: Connect) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)))
    for reply, status in (
        (await client.get("/nowhere"), 404),
        (await client.delete("/ask"), 405),
    ):
        assert reply.status_code == status
        assert reply.headers["content-type"] == PROBLEM


async def test_the_api_document_has_examples_and_in_production_needs_a_key(
    connect: Connect, settings: ApiSettings
) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)))
    document = (await client.get("/openapi.json")).json()
    operation = document["paths"]["/ask"]["post"]
    assert operation["requestBody"]["content"]["application/json"]["examples"]
    assert {"200", "422", "502", "503", "504"} <= operation["responses"].keys()
    assert (await client.get("/docs")).status_code == 200
    client = await connect(strong(), FakeAgent(says(ANSWER)), env="prod")
    for path in ("/docs", "/redoc"):
        assert (await client.get(path)).status_code == 404
    refused = await client.get("/openapi.json")
    assert (refused.status_code, refused.json()["code"]) == (401, "not_authenticated")
    key = await make_key(settings, "ask")
    assert (await client.get("/openapi.json", headers=key)).status_code == 200
