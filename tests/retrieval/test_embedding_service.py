"""The embedding service with the packaged model, and the embedders that call it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx
import numpy as np
import pytest
from fastapi.testclient import TestClient

from retrieval.embedding_models import ServedModels
from retrieval.embedding_service import Gate, create_app
from retrieval.embedding_settings import EmbeddingServiceSettings
from retrieval.errors import (
    InputTooLongError,
    ModelUnavailableError,
    ServiceBusyError,
    VectorError,
)
from retrieval.models import ModelSpec
from retrieval.remote import OpenAiEmbedder, RemoteCaller, RemoteEmbedder, checked_vectors
from service.circuit import Circuit
from tests.ingestion.fakes import HashEmbedder


@pytest.fixture
def service(tmp_path: Path) -> TestClient:
    settings = EmbeddingServiceSettings(data_dir=tmp_path, embeddings_most_characters=2000)
    return TestClient(create_app(settings, ServedModels(settings, HashEmbedder())))


class Through(httpx.BaseTransport):
    """Hands requests to the service in this process; the first so many fail."""

    def __init__(self, service: TestClient, failures: int = 0) -> None:
        self._service = service
        self.failures = failures

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if self.failures:
            self.failures -= 1
            return httpx.Response(503)
        reply = self._service.request(
            request.method, request.url.path, content=request.read(), headers={
                "content-type": "application/json"
            },
        )  # fmt: skip
        return httpx.Response(reply.status_code, content=reply.content)


def caller(transport: httpx.BaseTransport) -> RemoteCaller:
    return RemoteCaller(
        "http://embeddings", timeout_seconds=5, transport=transport, pause=lambda _: None
    )


def test_the_service_gives_dense_and_sparse_vectors(service: TestClient) -> None:
    dense = service.post("/embed", json={"texts": ["a", "b"], "kind": "passage"}).json()
    assert (dense["model"], dense["dimension"], len(dense["vectors"])) == ("hash", 8, 2)
    sparse = service.post("/embed/sparse", json={"texts": ["alpha beta"]}).json()
    assert len(sparse["vectors"][0]["indices"]) == len(sparse["vectors"][0]["values"]) == 2
    assert "hash" in service.get("/health").json()["loaded"]


@pytest.mark.parametrize(
    "body",
    [
        {"texts": []},
        {"texts": ["a"] * 65},
        {"texts": ["a" * 3000]},
        {"texts": ["a"], "model": "another"},
        {"texts": ["a"], "kind": "other"},
    ],
)
def test_calls_are_held_to_their_limits(service: TestClient, body: dict[str, object]) -> None:
    assert service.post("/embed/dense", json=body).status_code == 422


def test_what_the_profile_lacks_is_said(service: TestClient) -> None:
    assert service.post("/embed/colbert", json={"texts": ["a"]}).status_code == 503
    reply = service.post("/rerank", json={"query": "a", "texts": ["b"]})
    assert (reply.status_code, reply.json()["code"]) == (503, "model_unavailable")


def test_a_remote_embedder_is_the_model_itself(service: TestClient) -> None:
    remote, local = RemoteEmbedder(caller(Through(service))), HashEmbedder()
    assert (remote.spec, remote.digest) == (local.spec, local.digest)
    assert remote.tokenizer.count("one two") == 2
    texts = [f"text {n}" for n in range(70)]
    for ours, theirs in zip(remote.embed_passages(texts), local.embed_passages(texts), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-6)
    np.testing.assert_allclose(remote.embed_query("a"), local.embed_query("a"), atol=1e-6)


def test_an_outage_is_waited_out_and_a_lasting_one_is_told(service: TestClient) -> None:
    transport = Through(service)
    remote = RemoteEmbedder(caller(transport))
    transport.failures = 3
    assert remote.embed_query("a").shape == (8,)
    transport.failures = 4
    with pytest.raises(ModelUnavailableError, match="status 503"):
        remote.embed_query("a")


def test_refused_texts_are_not_sent_again(service: TestClient) -> None:
    remote = RemoteEmbedder(caller(Through(service)))
    with pytest.raises(InputTooLongError):
        remote.embed_query("a" * 3000)


def answers(body: object, status: int = 200) -> httpx.MockTransport:
    return httpx.MockTransport(lambda _: httpx.Response(status, json=body))


@pytest.mark.parametrize("body", [[], {"name": "x"}, "text"])
def test_what_is_no_embedding_service_is_told(body: object) -> None:
    with pytest.raises(ModelUnavailableError):
        RemoteEmbedder(caller(answers(body)))


def test_an_openai_compatible_service_is_understood_whatever_the_order() -> None:
    sent: list[dict[str, object]] = []

    def reply(request: httpx.Request) -> httpx.Response:
        sent.append(json.loads(request.content))
        data = [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [3, 0]}]
        return httpx.Response(200, json={"data": data})

    spec = ModelSpec("m", 2, 128, "query: ", "passage: ", 0.5)
    embedder = OpenAiEmbedder(caller(httpx.MockTransport(reply)), spec, HashEmbedder().tokenizer)
    first, second = embedder.embed_passages(["a", "b"])
    assert (first.tolist(), second.tolist()) == ([1, 0], [0, 1])
    assert sent == [{"input": ["passage: a", "passage: b"], "model": "m"}]


@pytest.mark.parametrize(
    "rows", [[], [[1.0]], [[0.0, 0.0]], [[float("nan"), 1.0]], [[1, 0], [0, 1]]]
)
def test_a_vector_that_would_spoil_an_index_is_refused(rows: list[list[float]]) -> None:
    with pytest.raises(VectorError):
        checked_vectors(rows, 1, 2)


async def test_calls_beyond_those_that_may_wait_are_refused_at_once() -> None:
    gate, release, entered = Gate(running=1, waiting=1), asyncio.Event(), asyncio.Event()

    async def work() -> None:
        async with gate.enter():
            entered.set()
            await release.wait()

    async with asyncio.TaskGroup() as group:
        group.create_task(work())
        await entered.wait()
        waiting = group.create_task(work())
        await asyncio.sleep(0)
        assert (gate.running, gate.waiting) == (1, 1)
        with pytest.raises(ServiceBusyError):
            async with gate.enter():
                pass
        release.set()
        await waiting
    assert (gate.running, gate.waiting) == (0, 0)


def test_a_service_that_keeps_failing_is_left_alone_and_tried_again_after_a_rest() -> None:
    now, seen = [0.0], list[int]()
    status = [503]

    def answer(_: httpx.Request) -> httpx.Response:
        seen.append(status[0])
        return httpx.Response(status[0], json={"texts": "refused"})

    guarded = RemoteCaller(
        "http://embeddings", timeout_seconds=5, transport=httpx.MockTransport(answer),
        pause=lambda _: None,
        circuit=Circuit("embeddings", failures=2, rest_seconds=10, clock=lambda: now[0]),
    )  # fmt: skip
    for _ in range(4):
        with pytest.raises(ModelUnavailableError):
            guarded.call("/embed", {})
    # Two calls of four tries each; the others were not made.
    assert len(seen) == 8
    now[0], status[0] = 10.0, 422
    with pytest.raises(InputTooLongError):
        guarded.call("/embed", {})
    status[0] = 200
    assert guarded.call("/embed", {}) == {"texts": "refused"}
