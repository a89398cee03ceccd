"""Questions to real processes: API, tool server over HTTP, embedded index, real embeddings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from backend.settings import DEFAULT_ABSTENTION_SENTENCE
from tests import scripted_model as model
from tests.e2e.conftest import StartApi
from tests.e2e.installation import ROOT, Installation, Process

KEY_QUESTION = "How do I rotate the signing key?"
PRIME = "What is a prime number?"
FOREIGN_LIBRARIES = ("qdrant", "fastembed", "onnxruntime")


def ask(client: httpx.Client, api: Process, question: str, **more: object) -> httpx.Response:
    return client.post(f"{api.url}/ask", json={"question": question, **more})


def test_an_answer_quotes_and_cites_what_both_branches_read(
    client: httpx.Client, plain_api: Process
) -> None:
    body = ask(client, plain_api, KEY_QUESTION).json()
    assert body["status"] == "answered"
    assert "harbor keys rotate" in body["answer"]
    assert body["agent"]["kind"] == "extractive"
    assert body["fidelity"]["verdict"] in {"exact", "superset"}
    read = {chunk["number"] for chunk in body["retrieved_chunks"] if chunk["read_by_agent"]}
    assert {citation["number"] for citation in body["citations"]} <= read
    assert all(citation["verified"] for citation in body["citations"])
    assert body["guard"]["best_cosine"] == max(
        chunk["cosine"] for chunk in body["retrieved_chunks"] if chunk["in_guard_search"]
    )


def test_an_off_corpus_question_is_refused_the_same_way_on_every_door(
    client: httpx.Client, plain_api: Process
) -> None:
    body = ask(client, plain_api, PRIME).json()
    assert body["answer"] == DEFAULT_ABSTENTION_SENTENCE
    assert (body["abstained"], body["citations"]) == (True, [])
    assert body["retrieved_chunks"]
    stream = client.post(
        f"{plain_api.url}/ask", json={"question": PRIME}, headers={"accept": "text/event-stream"}
    )
    assert '"citations": []' in stream.text
    page = client.post(f"{plain_api.url}/", data={"question": PRIME})
    assert page.status_code == 200
    assert DEFAULT_ABSTENTION_SENTENCE in page.text


def test_the_search_route_and_the_inspector_show_the_same_numbers(
    client: httpx.Client, plain_api: Process
) -> None:
    asked = ask(client, plain_api, KEY_QUESTION, top_k=3).json()
    found = client.post(
        f"{plain_api.url}/api/v1/retrieval/search", json={"query": KEY_QUESTION, "top_n": 3}
    ).json()
    inspected = [chunk for chunk in asked["retrieved_chunks"] if chunk["in_guard_search"]]
    assert [(hit["chunk_id"], hit["cosine"]) for hit in found["hits"]] == [
        (chunk["chunk_id"], chunk["cosine"]) for chunk in inspected
    ]
    assert found["signals"] == asked["guard"]["signals"]


def test_a_record_comes_back_exactly_with_the_servers_audit(
    client: httpx.Client, plain_api: Process
) -> None:
    body = ask(client, plain_api, KEY_QUESTION).json()
    assert client.get(f"{plain_api.url}/asks/{body['id']}").json() == body
    record = client.get(f"{plain_api.url}/asks/{body['id']}/record").json()
    (search,) = record["searches"]
    stages = search["stages"]
    in_search = [
        chunk["chunk_id"] for chunk in body["retrieved_chunks"] if chunk["in_guard_search"]
    ]
    assert stages["selected"] == in_search
    assert {*stages["dense"], *stages["sparse"]} == {*stages["fused"]}
    assert len(stages["dense"]) > len(stages["selected"])
    assert {row["branch"] for row in record["audit"]} == {"agent", "guard"}
    assert {row["ask_id"] for row in record["audit"]} == {body["id"]}


def test_a_lying_model_is_overridden_on_an_off_corpus_question(
    client: httpx.Client, start_api: StartApi
) -> None:
    with model.serve(model.lies) as scripted:
        api = start_api(OPENAI_BASE_URL=scripted.url, VOUCH_MODEL="scripted")
        body = ask(client, api, PRIME).json()
    assert (body["answer"], body["citations"]) == (DEFAULT_ABSTENTION_SENTENCE, [])
    assert body["abstention"]["reason"] == "weak_evidence"


def test_a_lie_about_what_is_documented_is_marked_or_refused_by_the_policy(
    client: httpx.Client, start_api: StartApi
) -> None:
    with model.serve(model.lies) as scripted:
        marking = start_api(OPENAI_BASE_URL=scripted.url, VOUCH_MODEL="scripted")
        marked = ask(client, marking, KEY_QUESTION).json()
        refusing = start_api(
            OPENAI_BASE_URL=scripted.url, VOUCH_MODEL="scripted", VOUCH_SUPPORT_POLICY="refuse"
        )
        refused = ask(client, refusing, KEY_QUESTION).json()
    assert not any(citation["verified"] for citation in marked["citations"])
    assert refused["answer"] == DEFAULT_ABSTENTION_SENTENCE
    assert refused["abstention"]["reason"] == "unsupported_answer"


def test_a_refusal_in_the_models_own_words_abstains(
    client: httpx.Client, start_api: StartApi
) -> None:
    with model.serve(model.refuses_in_own_words) as scripted:
        api = start_api(OPENAI_BASE_URL=scripted.url, VOUCH_MODEL="scripted")
        body = ask(client, api, KEY_QUESTION).json()
    assert body["answer"] == DEFAULT_ABSTENTION_SENTENCE
    assert body["abstention"]["reason"] == "agent_refused"


def test_markers_outside_the_evidence_are_removed_and_counted(
    client: httpx.Client, start_api: StartApi
) -> None:
    said = "Run `harbor keys rotate` to rotate the signing key [1][42]. The same again [1]."
    with model.serve(model.always(model.say(said))) as scripted:
        api = start_api(OPENAI_BASE_URL=scripted.url, VOUCH_MODEL="scripted")
        body = ask(client, api, KEY_QUESTION).json()
    assert body["removed_markers"] == [42]
    assert "[42]" not in body["answer"]
    # The same chunk cited twice has one number in text and list.
    assert [citation["number"] for citation in body["citations"]] == [1]
    assert body["answer"].count("[1]") == 2


@pytest.mark.parametrize(
    ("reply", "status", "codes"),
    [
        (model.html(), 502, {"model_garbage"}),
        (model.no_choices(), 502, {"model_garbage"}),
        (model.status(500, "broken"), 502, {"model_unavailable"}),
        (model.cut(), 502, {"model_unavailable", "model_garbage"}),
        (model.hang(), 504, {"model_timeout", "ask_timeout"}),
    ],
)
def test_each_trouble_of_the_model_has_its_status(
    client: httpx.Client,
    start_api: StartApi,
    reply: model.Reply,
    status: int,
    codes: set[str],
) -> None:
    with model.serve(model.always(reply)) as scripted:
        api = start_api(
            OPENAI_BASE_URL=scripted.url, VOUCH_MODEL="scripted", VOUCH_AGENT_SECONDS="2"
        )
        answer = ask(client, api, KEY_QUESTION)
        assert (answer.status_code, answer.json()["code"] in codes) == (status, True), answer.text
        # The guard needs no model: off-corpus questions are refused all the same.
        assert ask(client, api, PRIME).json()["abstained"]


@pytest.mark.parametrize(
    "script",
    [
        model.calls_endlessly,
        model.in_turn(model.raw_call("search_kb", "{not json"), model.say("Port 7100 [1].")),
        model.in_turn(model.call("format_disk", path="/"), model.say("Port 7100 [1].")),
    ],
)
def test_a_model_that_misuses_its_tools_ends_in_a_typed_outcome(
    client: httpx.Client, start_api: StartApi, script: model.Script
) -> None:
    with model.serve(script) as scripted:
        api = start_api(
            OPENAI_BASE_URL=scripted.url, VOUCH_MODEL="scripted", VOUCH_AGENT_SECONDS="10"
        )
        answer = ask(client, api, "Which port does the console listen on?")
    assert answer.status_code in {200, 502, 504}, answer.text
    if answer.status_code == 200:
        assert answer.json()["status"] in {"answered", "abstained"}
    else:
        assert answer.json()["code"].startswith("model_")


def test_no_model_at_the_address_is_502(client: httpx.Client, start_api: StartApi) -> None:
    api = start_api(OPENAI_BASE_URL="http://127.0.0.1:9/v1", VOUCH_MODEL="none")
    answer = ask(client, api, KEY_QUESTION)
    assert (answer.status_code, answer.json()["code"]) == (502, "model_unavailable")


def test_a_threshold_in_the_environment_reaches_the_verdict(
    client: httpx.Client, start_api: StartApi
) -> None:
    strict = ask(client, start_api(ABSTENTION_SCORE_THRESHOLD="0.999"), KEY_QUESTION).json()
    assert (strict["abstained"], strict["guard"]["threshold"]) == (True, 0.999)
    loose = ask(client, start_api(ABSTENTION_SCORE_THRESHOLD="-1"), PRIME).json()
    assert (loose["guard"]["passed"], loose["guard"]["threshold"]) == (True, -1.0)


def test_the_threshold_holds_exactly_at_the_cosine_and_under_a_filter(
    client: httpx.Client, plain_api: Process, start_api: StartApi
) -> None:
    source = "corpus"
    cosine = ask(client, plain_api, PRIME, source=source).json()["guard"]["best_cosine"]
    at = start_api(ABSTENTION_SCORE_THRESHOLD=repr(cosine))
    assert ask(client, at, PRIME, source=source).json()["guard"]["passed"]
    above = start_api(ABSTENTION_SCORE_THRESHOLD=repr(cosine + 1e-9))
    assert not ask(client, above, PRIME, source=source).json()["guard"]["passed"]


def test_twenty_callers_at_once_are_all_answered(plain_api: Process) -> None:
    def one(_: int) -> tuple[int, str]:
        with httpx.Client(timeout=60, trust_env=False) as client:
            reply = ask(client, plain_api, KEY_QUESTION)
            return reply.status_code, reply.json().get("status", "")

    with ThreadPoolExecutor(20) as pool:
        assert set(pool.map(one, range(20))) == {(200, "answered")}


def test_the_api_process_holds_nothing_that_could_read_an_index(
    client: httpx.Client, plain_api: Process
) -> None:
    assert ask(client, plain_api, KEY_QUESTION).status_code == 200
    maps = Path(f"/proc/{plain_api.pid}/maps")
    if not maps.exists():
        pytest.skip("memory maps of a process are read from /proc")
    mapped = maps.read_text().lower()
    assert "python" in mapped
    for name in FOREIGN_LIBRARIES:
        assert name not in mapped


def test_asking_imports_nothing_that_could_read_an_index(installation: Installation) -> None:
    environment = installation.api().environment
    finished = subprocess.run(
        [sys.executable, "-c", _ASK_IN_PROCESS],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    loaded = json.loads(finished.stdout.splitlines()[-1])
    assert "backend.app" in loaded
    assert [name for name in loaded if name.startswith((*FOREIGN_LIBRARIES, "retrieval"))] == []


_ASK_IN_PROCESS = """
import asyncio, json, os, sys
import httpx
from backend.app import create_app
from backend.settings import load_settings

async def main():
    app = create_app(load_settings(os.environ))
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            reply = await client.post("/ask", json={"question": "Which ports?"}, timeout=30)
            reply.raise_for_status()
    print(json.dumps(sorted(sys.modules)))

asyncio.run(main())
"""
