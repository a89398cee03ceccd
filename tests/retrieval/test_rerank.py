"""The reranker reorders and never measures; when it fails the fused order stands."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import httpx
import pytest
from prometheus_client import CollectorRegistry

from retrieval.errors import RerankError
from retrieval.metrics import RetrievalMetrics
from retrieval.profiles import RerankerProfile, SearchProfile
from retrieval.rerank import (
    CrossEncoderReranker,
    RemoteReranker,
    Reranker,
    Rerankers,
    RestingReranker,
    open_reranker,
)
from retrieval.search import SearchRequest
from retrieval.store import Filter
from retrieval.tokens import Tokenizer
from service.circuit import Circuit
from tests.retrieval.corpus import chunk_id
from tests.retrieval.rig import Rig, ask, gateway_corpus
from tests.retrieval.tiny_models import write_cross_encoder

_PROFILES = {
    "default": SearchProfile(),
    "reranked": SearchProfile(reranker=RerankerProfile(model="fake", candidates=6)),
    "short": SearchProfile(reranker=RerankerProfile(model="fake", candidates=6, top_n=2)),
}


class FakeReranker:
    """Prefers what holds a word; fails on demand."""

    def __init__(self, favourite: str, failure: RerankError | None = None) -> None:
        self._favourite = favourite
        self._failure = failure
        self.seen: list[tuple[str, int]] = []

    async def rerank(self, query: str, passages: Sequence[str]) -> list[float]:
        self.seen.append((query, len(passages)))
        if self._failure is not None:
            raise self._failure
        return [4.0 if self._favourite in passage else -1.5 for passage in passages]

    async def close(self) -> None:
        pass


MakeRig = Callable[[Reranker], Rig]


@pytest.fixture
async def registry() -> CollectorRegistry:
    return CollectorRegistry()


@pytest.fixture
async def make_rig(
    tmp_path: Path, tokenizer: Tokenizer, registry: CollectorRegistry
) -> AsyncIterator[MakeRig]:
    made: list[Rig] = []

    def make(reranker: Reranker) -> Rig:
        rig = Rig(
            tmp_path,
            tokenizer,
            profiles=_PROFILES,
            rerankers=Rerankers(lambda _: reranker),
            metrics=RetrievalMetrics(registry),
        )
        made.append(rig)
        return rig

    yield make
    for rig in made:
        await rig.engine.close()


def _failures(registry: CollectorRegistry) -> float | None:
    return registry.get_sample_value("vouch_retrieval_degraded_total", {"stage": "rerank_failed"})


async def test_reranking_reorders_and_changes_no_number(make_rig: MakeRig) -> None:
    reranker = FakeReranker("Waiting longer")
    rig = make_rig(reranker)
    await rig.publish(gateway_corpus())
    plain = await rig.engine.search(ask())
    reranked = await rig.engine.search(ask(profile="reranked"))
    assert reranked.hits[0].chunk.chunk_id == chunk_id("dense")
    assert reranked.hits[0].rerank_logit == 4.0
    assert reranked.signals == plain.signals
    assert reranked.trace.fused == plain.trace.fused
    assert set(reranked.trace.reranked) == set(plain.trace.fused)
    before = {hit.chunk.chunk_id: (hit.cosine, hit.fused_rank) for hit in plain.hits}
    for hit in reranked.hits:
        assert before.get(hit.chunk.chunk_id, (hit.cosine, hit.fused_rank)) == (
            hit.cosine,
            hit.fused_rank,
        )
    assert reranker.seen == [(ask().query, 6)]


async def test_no_more_come_out_than_the_profile_says(make_rig: MakeRig) -> None:
    rig = make_rig(FakeReranker("Waiting longer"))
    await rig.publish(gateway_corpus())
    asked = ask(profile="reranked")
    full = await rig.engine.search(asked)
    short = await rig.engine.search(ask(profile="short"))
    assert len(full.hits) == asked.top_k > 2
    assert len(short.hits) == len(short.trace.selected) == 2
    assert short.hits[0].chunk.chunk_id == chunk_id("dense")
    assert short.signals.best_cosine == full.signals.best_cosine


async def test_a_failing_reranker_leaves_the_fused_order_and_is_counted(
    make_rig: MakeRig, registry: CollectorRegistry
) -> None:
    rig = make_rig(FakeReranker("", RerankError("down")))
    await rig.publish(gateway_corpus())
    plain = await rig.engine.search(ask())
    degraded = await rig.engine.search(ask(profile="reranked"))
    assert degraded.degraded == ("rerank_failed",)
    assert [h.chunk.chunk_id for h in degraded.hits] == [h.chunk.chunk_id for h in plain.hits]
    assert all(hit.rerank_logit is None for hit in degraded.hits)
    assert _failures(registry) == 1.0
    assert plain.degraded == ()


async def test_an_empty_outcome_asks_no_reranker(make_rig: MakeRig) -> None:
    reranker = FakeReranker("x")
    rig = make_rig(reranker)
    await rig.publish(gateway_corpus())
    request = SearchRequest(query="x", top_k=3, where=Filter(source="nowhere"), profile="reranked")
    assert (await rig.engine.search(request)).hits == ()
    assert reranker.seen == []


async def test_a_cross_encoder_is_loaded_from_a_directory(tmp_path: Path, models_dir: Path) -> None:
    directory = write_cross_encoder(tmp_path / "cross-encoder", models_dir)
    reranker = open_reranker(RerankerProfile(model=str(directory), timeout_seconds=60))
    assert isinstance(reranker, CrossEncoderReranker)
    logits = await reranker.rerank("query", ["one", "one two three four", "one two"])
    assert logits[1] > logits[2] > logits[0]  # this tiny network counts tokens


async def test_an_absent_cross_encoder_is_a_failed_stage() -> None:
    reranker = open_reranker(RerankerProfile(model="no/such-encoder", timeout_seconds=60))
    with pytest.raises(RerankError, match="no/such-encoder"):
        await reranker.rerank("query", ["passage"])


def _server(answer: httpx.Response | Exception) -> RemoteReranker:
    def respond(request: httpx.Request) -> httpx.Response:
        if isinstance(answer, Exception):
            raise answer
        return answer

    return RemoteReranker(
        "http://reranker.test/rerank",
        timeout_seconds=2.0,
        transport=httpx.MockTransport(respond),
    )


@pytest.mark.parametrize(
    "body",
    [
        [{"index": 1, "score": 2.5}, {"index": 0, "score": -1.0}],
        {
            "results": [
                {"index": 0, "relevance_score": -1.0},
                {"index": 1, "relevance_score": 2.5, "document": {"text": "b"}},
            ],
            "model": "x",
        },
    ],
)
async def test_both_forms_of_a_rerank_server_are_understood(body: object) -> None:
    reranker = _server(httpx.Response(200, json=body))
    assert await reranker.rerank("q", ["a", "b"]) == [-1.0, 2.5]
    await reranker.close()


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(500),
        httpx.Response(200, text="<html>"),
        httpx.Response(200, json=[]),
        httpx.Response(200, json=[{"index": 0, "score": 1.0}]),
        httpx.Response(200, json={"error": "x"}),
        httpx.Response(200, text='[{"index": 0, "score": NaN}, {"index": 1, "score": 1}]'),
        httpx.ConnectError("refused"),
        httpx.ReadTimeout("slow"),
    ],
)
async def test_whatever_a_server_does_wrong_is_one_typed_failure(
    answer: httpx.Response | Exception,
) -> None:
    reranker = _server(answer)
    with pytest.raises(RerankError):
        await reranker.rerank("q", ["a", "b"])
    await reranker.close()


async def test_a_late_server_is_given_up() -> None:
    never = asyncio.Event()

    async def respond(request: httpx.Request) -> httpx.Response:
        await never.wait()
        return httpx.Response(200, json=[])

    reranker = RemoteReranker(
        "http://reranker.test/rerank",
        timeout_seconds=0.05,
        transport=httpx.MockTransport(respond),
    )
    with pytest.raises(RerankError):
        await reranker.rerank("q", ["a"])
    await reranker.close()


async def test_a_reranker_that_keeps_failing_is_left_alone_and_the_fused_order_stands(
    make_rig: MakeRig, registry: CollectorRegistry
) -> None:
    failing = FakeReranker("any", RerankError("down"))
    rig = make_rig(RestingReranker(failing, Circuit("reranker", failures=2)))
    await rig.publish(gateway_corpus())
    plain = await rig.engine.search(ask())
    for _ in range(4):
        found = await rig.engine.search(ask(profile="reranked"))
        assert found.degraded == ("rerank_failed",)
        assert [hit.chunk.chunk_id for hit in found.hits] == [
            hit.chunk.chunk_id for hit in plain.hits
        ]
    assert len(failing.seen) == 2
    assert _failures(registry) == 4
