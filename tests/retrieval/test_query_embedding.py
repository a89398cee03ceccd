from __future__ import annotations

import asyncio
import threading

import numpy as np
import pytest

from retrieval.errors import InputTooLongError
from retrieval.query_embedding import QueryEmbedder, split_query
from retrieval.tokens import Tokenizer
from tests.retrieval.fakes import FakeEmbedder


async def test_callers_of_one_text_share_one_computation(tokenizer: Tokenizer) -> None:
    gate = threading.Event()
    fake = FakeEmbedder(tokenizer, gate=gate)
    embedder = QueryEmbedder(fake)
    callers = [asyncio.create_task(embedder.embed("same")) for _ in range(5)]
    await asyncio.to_thread(fake.started.wait, 10)
    gate.set()
    vectors = await asyncio.gather(*callers)
    assert fake.queries == {"same": 1}
    assert all(v is vectors[0] for v in vectors)
    embedder.close()


async def test_the_event_loop_turns_while_the_model_works(tokenizer: Tokenizer) -> None:
    gate = threading.Event()
    embedder = QueryEmbedder(FakeEmbedder(tokenizer, gate=gate))
    pending = asyncio.create_task(embedder.embed("slow"))
    await asyncio.sleep(0)
    assert not pending.done()
    gate.set()  # only a turning loop can come this far
    assert (await pending).shape == (16,)
    embedder.close()


async def test_a_caller_that_gives_up_does_not_take_the_others_along(tokenizer: Tokenizer) -> None:
    gate = threading.Event()
    fake = FakeEmbedder(tokenizer, gate=gate)
    embedder = QueryEmbedder(fake)
    first = asyncio.create_task(embedder.embed("text"))
    second = asyncio.create_task(embedder.embed("text"))
    await asyncio.to_thread(fake.started.wait, 10)
    first.cancel()
    gate.set()
    assert (await second).shape == (16,)
    with pytest.raises(asyncio.CancelledError):
        await first
    embedder.close()


async def test_repeated_texts_come_from_memory_until_pushed_out(tokenizer: Tokenizer) -> None:
    fake = FakeEmbedder(tokenizer)
    embedder = QueryEmbedder(fake, cache_size=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        await embedder.embed(text)
    assert fake.queries == {"a": 1, "b": 2, "c": 1}
    embedder.close()


async def test_queries_and_passages_are_kept_apart(tokenizer: Tokenizer) -> None:
    fake = FakeEmbedder(tokenizer)
    embedder = QueryEmbedder(fake)
    await embedder.embed_passage("text")
    await embedder.embed("text")
    assert fake.queries == {"text": 1}
    embedder.close()


async def test_a_failure_is_not_remembered(tokenizer: Tokenizer) -> None:
    embedder = QueryEmbedder(FakeEmbedder(tokenizer, limit_tokens=12))
    for _ in range(2):
        with pytest.raises(InputTooLongError):
            await embedder.embed("word " * 200)
    embedder.close()


async def test_a_long_query_is_pooled_from_all_its_pieces(tokenizer: Tokenizer) -> None:
    fake = FakeEmbedder(tokenizer, limit_tokens=12)
    embedder = QueryEmbedder(fake)
    text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    vector = await embedder.embed(text)
    pieces = split_query(text, tokenizer, 10)
    mean = np.mean([fake.embed_passages([piece])[0] for piece in pieces], axis=0)
    assert len(pieces) == 2
    assert set(fake.queries) == set(pieces)
    np.testing.assert_allclose(vector, mean / np.linalg.norm(mean), atol=1e-6)
    embedder.close()


@pytest.mark.parametrize("window", [12, 16, 64, 254])
def test_pieces_fit_the_window_and_lose_no_word(tokenizer: Tokenizer, window: int) -> None:
    text = (
        "Why does the supercalifragilistic re-tokenisation of caf\u00e9s, e.g. naïve ones, fail? "
        * 2
    )
    pieces = split_query(text, tokenizer, window)
    assert all(tokenizer.count(piece) <= window for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())


async def test_many_passages_come_back_in_order_and_push_no_query_out(
    tokenizer: Tokenizer,
) -> None:
    fake = FakeEmbedder(tokenizer)
    embedder = QueryEmbedder(fake, cache_size=1)
    await embedder.embed("kept")
    texts = [f"passage {number}" for number in range(100)]

    vectors = await embedder.embed_passages(texts)

    expected = fake.embed_passages(texts)
    assert all(np.array_equal(*pair) for pair in zip(vectors, expected, strict=True))
    await embedder.embed("kept")
    assert fake.queries == {"kept": 1}
    embedder.close()


async def test_no_passages_give_no_vectors(tokenizer: Tokenizer) -> None:
    embedder = QueryEmbedder(FakeEmbedder(tokenizer))

    assert await embedder.embed_passages([]) == []

    embedder.close()
