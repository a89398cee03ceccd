"""How long the context tools work: ``python -m benchmarks.context``.

Processor time, not wall time, so that a busy machine gives the same figures: of the whole process,
and of its longest way, which is the main thread and the busiest of the threads it waits for. Run
it with ``OPENBLAS_NUM_THREADS=1``; threads that only spin would be counted otherwise.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from pydoc_data.topics import topics

import numpy as np

from context.compress import CompressRequest, compress
from context.contract import Passage
from context.deduplicate import deduplicate
from context.forcing import Rules
from context.model import closeness
from prose.sentences import split_sentences
from retrieval.chunk import DenseVector
from retrieval.opening import open_embedder
from retrieval.query_embedding import QueryEmbedder
from retrieval.settings import RetrievalSettings
from retrieval.tokens import Tokenizer

_TASKS = Path("/proc/self/task")
_RUNS = 3
_TEXT_TOKENS = 8000
_TEXTS = 1000
_NEAR = 100
_DIMENSION = 384
_QUESTION = "How do I format a number with two decimals?"


class _Model:
    """The index's own model, as the context tools see it."""

    def __init__(self, embedder: QueryEmbedder) -> None:
        self._embedder = embedder

    @property
    def tokenizer(self) -> Tokenizer:
        return self._embedder.tokenizer

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[DenseVector]:
        return await self._embedder.embed_passages(texts)

    async def embed_query(self, text: str) -> DenseVector:
        return await self._embedder.embed(text)


async def measure_compression(model: _Model) -> dict[str, float]:
    """Compress 8,000 tokens of the language reference to half of them."""
    text = "\n\n".join(topics[name] for name in sorted(topics))
    text = text[: model.tokenizer.offsets(text)[_TEXT_TOKENS - 1][1]]
    request = CompressRequest((Passage(id="reference", text=text),), None, 0.5, _QUESTION, Rules())

    async def work() -> None:
        await compress(
            request, model.tokenizer, partial(closeness, model), price_per_million_tokens=0.0
        )

    return {"tokens": _TEXT_TOKENS, **await _best(work)}


async def measure_deduplication() -> dict[str, float]:
    """Deduplicate 1,000 sentences, a tenth of them near others, whose vectors are there."""
    chooser = np.random.default_rng(0)
    found = dict.fromkeys(
        " ".join(sentence.text.split())
        for name in sorted(topics)
        for sentence in split_sentences(topics[name])
    )
    texts = list(found)[: _TEXTS - _NEAR]
    vectors = chooser.normal(size=(len(texts), _DIMENSION))
    near = vectors[:_NEAR] + 0.01 * chooser.normal(size=(_NEAR, _DIMENSION))
    rows = np.concatenate([vectors, near]).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    texts += [f"{text} The." for text in texts[:_NEAR]]
    known = dict(zip(texts, rows, strict=True))

    async def embed(asked: Sequence[str]) -> list[DenseVector]:
        return [known[text] for text in asked]

    async def work() -> None:
        await deduplicate(texts, embed, threshold_cosine=0.9)

    return {"texts": len(texts), **await _best(work)}


async def _best(work: Callable[[], Awaitable[None]]) -> dict[str, float]:
    """Return the figures of the quickest of a few runs; the first of all only warms up."""
    await work()
    measured = [await _measure(work) for _ in range(_RUNS)]
    return min(measured, key=lambda each: each["cpu_seconds"])


async def _measure(work: Callable[[], Awaitable[None]]) -> dict[str, float]:
    before, started, main = _threads(), time.process_time(), time.thread_time()
    await work()
    own = time.thread_time() - main
    spent = time.process_time() - started
    after = _threads()
    main_thread = str(threading.get_native_id())
    others = [
        spent_by - before.get(thread, 0.0)
        for thread, spent_by in after.items()
        if thread != main_thread
    ]
    longest = own + max(others, default=0.0)
    return {"cpu_seconds": round(spent, 4), "longest_way_seconds": round(longest, 4)}


def _threads() -> dict[str, float]:
    """Return the processor seconds of every thread of this process, by its id."""
    return {
        task.name: int((task / "schedstat").read_text().split()[0]) / 1e9
        for task in _TASKS.iterdir()
    }


async def main() -> None:
    """Measure both and print one JSON object."""
    embedder = QueryEmbedder(open_embedder(RetrievalSettings()))
    try:
        figures = {
            "compress": await measure_compression(_Model(embedder)),
            "deduplicate": await measure_deduplication(),
        }
    finally:
        embedder.close()
    sys.stdout.write(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    asyncio.run(main())
