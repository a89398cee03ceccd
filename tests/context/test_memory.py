from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from qdrant_client import AsyncQdrantClient

from context.contract_memory import Scope
from context.errors import BadInputError, UnscopedError
from context.memory import Memories
from retrieval.errors import IndexUnavailableError, RerankError
from retrieval.memory import MemoryStore
from retrieval.store_memory_edge import EdgeMemoryStore
from retrieval.store_memory_qdrant import QdrantMemoryStore
from tests.context.memories import DIMENSION, HashModel

ADA = Scope(user_id="ada")


@pytest.fixture(params=["edge", "server"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[MemoryStore]:
    made: MemoryStore
    if request.param == "edge":
        made = EdgeMemoryStore(tmp_path / "memory", DIMENSION)
    else:
        made = QdrantMemoryStore(
            AsyncQdrantClient(":memory:"), "memories", DIMENSION, indexed=False
        )
    yield made
    await made.close()


async def test_what_is_remembered_is_found_and_can_be_forgotten(store: MemoryStore) -> None:
    memories = Memories(store, HashModel())
    kept = await memories.remember("Ada likes vim.", ADA, {"topic": "editor"}, owner="a")
    await memories.remember("Ada likes tea.", ADA, {"topic": "drink"}, owner="a")

    found = await memories.search(
        "Ada likes vim.", ADA, {}, owner="a", top_k=5, threshold_cosine=0.9, rerank=False
    )

    assert [memory.content for memory in found.memories] == ["Ada likes vim."]
    assert found.memories[0].cosine == pytest.approx(1.0, abs=1e-5)
    assert found.memories[0].metadata == {"topic": "editor"}
    assert found.memories[0].memory_id == kept.memory.memory_id
    gone = await memories.forget(ADA, {}, owner="a", memory_id=kept.memory.memory_id)
    assert gone.forgotten == 1
    assert (await memories.forget(ADA, {}, owner="a")).forgotten == 1
    assert (await memories.forget(ADA, {}, owner="a")).forgotten == 0


async def test_another_caller_finds_and_forgets_nothing(store: MemoryStore) -> None:
    memories = Memories(store, HashModel())
    await memories.remember("Ada likes vim.", ADA, {}, owner="a")

    found = await memories.search(
        "Ada likes vim.", ADA, {}, owner="b", top_k=5, threshold_cosine=-1.0, rerank=False
    )

    assert found.memories == ()
    assert (await memories.forget(ADA, {}, owner="b")).forgotten == 0
    assert (await memories.forget(ADA, {}, owner="a")).forgotten == 1


@pytest.mark.parametrize("scope", [Scope(), Scope(user_id="  ", run_id="\n"), Scope(user_id="a\0")])
async def test_a_call_without_a_scope_shows_a_right_one(store: MemoryStore, scope: Scope) -> None:
    memories = Memories(store, HashModel())
    with pytest.raises(UnscopedError, match=r'\{"user_id": "ada"\}'):
        await memories.search(
            "x", scope, {}, owner="a", top_k=1, threshold_cosine=0.1, rerank=False
        )
    with pytest.raises(UnscopedError):
        await memories.remember("x", scope, {}, owner="a")
    with pytest.raises(UnscopedError):
        await memories.forget(scope, {}, owner="a")


async def test_scope_ids_are_trimmed(store: MemoryStore) -> None:
    memories = Memories(store, HashModel())
    await memories.remember("x", Scope(user_id=" ada "), {}, owner="a")

    assert (await memories.forget(ADA, {}, owner="a")).forgotten == 1


@pytest.mark.parametrize(
    "metadata",
    [{"a b": 1}, {"@owner": "b"}, {"nested": {"a": 1}}, {"created_at": 1}, {"long": "x" * 501}],
)
async def test_metadata_that_cannot_be_found_by_is_refused(
    store: MemoryStore, metadata: dict[str, object]
) -> None:
    with pytest.raises(BadInputError):
        await Memories(store, HashModel()).remember(
            "x",
            ADA,
            metadata,  # type: ignore[arg-type]
            owner="a",
        )


async def test_reranking_orders_anew_and_says_so(store: MemoryStore) -> None:
    async def by_length(query: str, texts: Sequence[str]) -> Sequence[float]:
        return [float(len(text)) for text in texts]

    memories = Memories(store, HashModel(), reranker=by_length)
    for text in ("a", "ccc", "bb"):
        await memories.remember(text, ADA, {}, owner="a")

    found = await memories.search(
        "a", ADA, {}, owner="a", top_k=2, threshold_cosine=-1.0, rerank=True
    )

    assert [memory.content for memory in found.memories] == ["ccc", "bb"]
    assert found.memories[0].rerank_logit == 3.0
    assert found.rerank.used


async def test_a_failing_reranker_leaves_the_order_and_the_result_says_why(
    store: MemoryStore,
) -> None:
    async def broken(query: str, texts: Sequence[str]) -> Sequence[float]:
        raise RerankError("the reranker is away")

    memories = Memories(store, HashModel(), reranker=broken)
    await memories.remember("a", ADA, {}, owner="a")

    found = await memories.search(
        "a", ADA, {}, owner="a", top_k=2, threshold_cosine=-1.0, rerank=True
    )

    assert [memory.content for memory in found.memories] == ["a"]
    assert found.rerank.model_dump() == {
        "asked": True,
        "used": False,
        "reason": "the reranker is away",
    }


async def test_an_empty_result_explains_itself(store: MemoryStore) -> None:
    memories = Memories(store, HashModel())
    await memories.remember("a", ADA, {"topic": "x"}, owner="a")

    found = await memories.search(
        "b",
        ADA,
        {"topic": {"in": ["x", "y"]}},
        owner="a",
        top_k=3,
        threshold_cosine=0.99,
        rerank=False,
    )

    assert found.memories == ()
    assert found.searched.model_dump() == {
        "tool_version": "1",
        "limit": 3,
        "threshold": 0.99,
        "filter_shape": "in",
        "filter_keys": ("topic",),
        "candidates": 1,
        "hits": 0,
    }


async def test_memories_outlive_the_process(tmp_path: Path) -> None:
    first = EdgeMemoryStore(tmp_path / "memory", DIMENSION)
    await Memories(first, HashModel()).remember("Ada likes vim.", ADA, {}, owner="a")
    await first.close()

    second = EdgeMemoryStore(tmp_path / "memory", DIMENSION)

    assert (await Memories(second, HashModel()).forget(ADA, {}, owner="a")).forgotten == 1
    await second.close()
    with pytest.raises(IndexUnavailableError, match="closed"):
        await Memories(second, HashModel()).forget(ADA, {}, owner="a")
