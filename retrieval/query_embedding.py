"""Query vectors for concurrent callers: one computation per text, kept for a while."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

import numpy as np

from retrieval.chunk import DenseVector
from retrieval.embedding import DenseEmbedder
from retrieval.errors import InputTooLongError
from retrieval.models import ModelSpec
from retrieval.tokens import Tokenizer

_SPECIAL_TOKENS = 2
_Key: TypeAlias = tuple[str, bool, str]
_MOST_PIECES = 8
_BATCH_TEXTS = 32
_PASSAGE_THREADS = 2


class QueryEmbedder:
    """Embeds queries off the event loop; callers of the same text share one computation.

    Both branches of an ask search for the same text at the same time: the second waits for the
    first's vector instead of computing it again. Only vectors are shared, never results.

    Args:
        embedder: The model, which blocks.
        cache_size: Texts whose vectors are kept, least recently used dropped first.
    """

    def __init__(self, embedder: DenseEmbedder, *, cache_size: int = 2048) -> None:
        self._embedder = embedder
        self._cache_size = cache_size
        self._vectors: OrderedDict[_Key, DenseVector] = OrderedDict()
        self._pending: dict[_Key, asyncio.Future[DenseVector]] = {}
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embed")
        # Many passages at once have threads of their own: no query waits behind them.
        self._passages = ThreadPoolExecutor(_PASSAGE_THREADS, thread_name_prefix="embed-many")

    @property
    def spec(self) -> ModelSpec:
        """The model's table entry."""
        return self._embedder.spec

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's own tokenizer."""
        return self._embedder.tokenizer

    async def embed(self, text: str) -> DenseVector:
        """Return the query vector of a text, shape (dimension,), float32, unit length.

        A text longer than the model reads is split at words and the pieces' vectors are averaged
        and renormalised, so that nothing of it is silently cut.

        Raises:
            InputTooLongError: More than eight pieces would be needed.
        """
        return await self._vector(text, is_query=True)

    async def embed_passage(self, text: str) -> DenseVector:
        """Return the passage vector of a text, split and averaged likewise.

        Raises:
            InputTooLongError: More than eight pieces would be needed.
        """
        return await self._vector(text, is_query=False)

    async def embed_passages(self, texts: Sequence[str]) -> list[DenseVector]:
        """Return the passage vector of each of many texts, in order.

        They run in batches beside each other and are not kept: they would push the queries out.

        Raises:
            InputTooLongError: A text would need more than eight pieces.
        """
        loop = asyncio.get_running_loop()
        batches = [texts[at : at + _BATCH_TEXTS] for at in range(0, len(texts), _BATCH_TEXTS)]
        found = await asyncio.gather(
            *(loop.run_in_executor(self._passages, self._pool_each, batch) for batch in batches)
        )
        return [vector for vectors in found for vector in vectors]

    async def _vector(self, text: str, *, is_query: bool) -> DenseVector:
        key = (self._embedder.digest, is_query, text)
        known = self._vectors.get(key)
        if known is not None:
            self._vectors.move_to_end(key)
            return known
        pending = self._pending.get(key)
        if pending is None:
            pending = asyncio.get_running_loop().run_in_executor(
                self._executor, self._pooled, text, is_query
            )
            self._pending[key] = pending
            pending.add_done_callback(lambda done: self._keep(key, done))
        # A caller that gives up must not cancel the computation the others wait for.
        return await asyncio.shield(pending)

    def close(self) -> None:
        """Stop the worker threads; computations under way finish."""
        self._executor.shutdown(wait=True, cancel_futures=True)
        self._passages.shutdown(wait=True, cancel_futures=True)

    def _keep(self, key: _Key, done: asyncio.Future[DenseVector]) -> None:
        self._pending.pop(key, None)
        if done.cancelled() or done.exception() is not None:
            return
        self._vectors[key] = done.result()
        while len(self._vectors) > self._cache_size:
            self._vectors.popitem(last=False)

    def _pool_each(self, texts: Sequence[str]) -> list[DenseVector]:
        return [self._pooled(text, is_query=False) for text in texts]

    def _pooled(self, text: str, is_query: bool) -> DenseVector:  # noqa: FBT001 - executor call
        spec = self._embedder.spec
        prefix = spec.query_prefix if is_query else spec.passage_prefix
        taken = _SPECIAL_TOKENS + (self._embedder.tokenizer.count(prefix) if prefix else 0)
        pieces = split_query(text, self._embedder.tokenizer, spec.input_limit_tokens - taken)
        if is_query:
            vectors = [self._embedder.embed_query(piece) for piece in pieces]
        else:
            vectors = self._embedder.embed_passages(pieces)
        if len(vectors) == 1:
            return vectors[0]
        mean = np.mean(np.stack(vectors), axis=0)
        return np.asarray(mean / np.linalg.norm(mean), dtype=np.float32)


def split_query(text: str, tokenizer: Tokenizer, window_tokens: int) -> list[str]:
    """Split a text at words into few pieces of like length that each fit the window.

    Args:
        text: Any text.
        tokenizer: Of the model that will read the pieces.
        window_tokens: Tokens a piece may have.

    Raises:
        InputTooLongError: More than eight pieces would be needed.
    """
    spans = tokenizer.offsets(text)
    if len(spans) <= window_tokens:
        return [text]
    # Where a cut falls inside a word, its halves may count a token or two more than the whole did.
    room = window_tokens - 2
    if len(spans) > _MOST_PIECES * room:
        raise InputTooLongError(
            f"the query has {len(spans)} tokens; at most {_MOST_PIECES * room} can be read"
        )
    pieces: list[str] = []
    start = 0
    while start < len(spans):
        left = len(spans) - start
        even = -(-left // -(-left // room))
        end = _word_start(text, spans, start, start + even)
        pieces.append(text[spans[start][0] : spans[end - 1][1]])
        start = end
    if len(pieces) > _MOST_PIECES:
        raise InputTooLongError(f"the query needs more than {_MOST_PIECES} pieces")
    return pieces


def _word_start(text: str, spans: list[tuple[int, int]], start: int, end: int) -> int:
    """Return the last place in the second half of a piece where a word begins."""
    if end >= len(spans):
        return len(spans)
    for place in range(end, (start + end) // 2, -1):
        if text[spans[place][0] - 1].isspace():
            return place
    return end
