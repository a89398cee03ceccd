"""What agents remember and what packing leaves out, against real processes."""

from __future__ import annotations

import httpx

from backend.settings import DEFAULT_ABSTENTION_SENTENCE
from tests import scripted_model as scripted
from tests.e2e.conftest import StartApi
from tests.e2e.installation import Process

QUESTION = "How do I rotate the signing key?"
SECRET = "The signing key of the lighthouse is rotated by turning the brass wheel twice to port."


def test_a_memory_is_never_evidence_for_an_answer(client: httpx.Client, plain_api: Process) -> None:
    scope = {"user_id": "ada", "agent_id": "agent", "run_id": "run"}
    kept = client.post(
        f"{plain_api.url}/api/v1/context/remember", json={"content": SECRET, "scope": scope}
    )
    assert kept.status_code == 200
    found = client.post(
        f"{plain_api.url}/api/v1/context/search_memory", json={"query": SECRET, "scope": scope}
    )
    assert [each["content"] for each in found.json()["memories"]] == [SECRET]

    wheel = client.post(
        f"{plain_api.url}/ask",
        json={"question": "How often is the brass wheel of the lighthouse turned to port?"},
    ).json()
    asked = client.post(f"{plain_api.url}/ask", json={"question": SECRET, "top_k": 50}).json()
    searched = client.post(
        f"{plain_api.url}/api/v1/retrieval/search", json={"query": SECRET, "top_n": 50}
    ).json()

    assert wheel["answer"] == DEFAULT_ABSTENTION_SENTENCE
    assert asked["retrieved_chunks"]
    for shown in (wheel["retrieved_chunks"], asked["retrieved_chunks"], searched["hits"]):
        assert all("brass" not in chunk["text"] for chunk in shown)


def test_a_models_evidence_is_packed_and_the_page_and_the_record_say_so(
    client: httpx.Client, start_api: StartApi
) -> None:
    with scripted.serve(scripted.answers_from_evidence) as model:
        api = start_api(VOUCH_AGENT="llm", OPENAI_BASE_URL=model.url, VOUCH_EVIDENCE_TOKENS="120")
        body = client.post(f"{api.url}/ask", json={"question": QUESTION}).json()
        whole = start_api(
            VOUCH_AGENT="llm", OPENAI_BASE_URL=model.url, VOUCH_EVIDENCE_PACKING="false"
        )
        plain = client.post(f"{whole.url}/ask", json={"question": QUESTION}).json()
        packed, unpacked = model.requests[0], model.requests[-1]
    assert body["status"] == plain["status"] == "answered"
    assert body["fidelity"]["verdict"] == plain["fidelity"]["verdict"]
    (ledger,) = body["packing"]
    assert plain["packing"] == []
    assert ledger["status"] == "applied"
    assert ledger["tokens"] <= 120 < ledger["origin_tokens"]
    assert len(packed.text) < len(unpacked.text)
    for chunk in body["retrieved_chunks"]:
        given = chunk["given"]
        pieces = [chunk["text"]] if given is None else [
            chunk["text"][each["start"] : each["end"]] for each in given
        ]  # fmt: skip
        assert all(piece in packed.text for piece in pieces)
    for citation in body["citations"]:
        (chunk,) = [
            each for each in body["retrieved_chunks"] if each["chunk_id"] == citation["chunk_id"]
        ]
        span = citation["span"]
        assert chunk["text"][span["start"] : span["end"]].strip() == citation["quote"].strip()
    page = client.get(f"{api.url}/a/{body['id']}").text
    assert 'class="cut"' in page
    record = client.get(f"{api.url}/asks/{body['id']}/record").json()
    assert [row["tool"] for row in record["audit"]].count("fit_evidence") == 1
    assert client.get(f"{api.url}/asks/{body['id']}").json()["packing"] == body["packing"]
