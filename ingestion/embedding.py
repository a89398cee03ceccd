"""Vectors for every passage: from the side store where it has them, else from the model."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from ingestion.passage_vectors import PassageVectors, put_together, texts_to_embed
from ingestion.report import Progress, ProgressEvent
from retrieval.chunk import Chunk, DenseVector
from retrieval.models import ModelSpec
from retrieval.tokens import Tokenizer
from retrieval.vectors import vector_key

BATCH_TEXTS = 4
"""Texts per call; the model takes them one at a time, which is fastest."""


class PassageEmbedder(Protocol):
    """What the pipeline needs of a dense embedder."""

    @property
    def spec(self) -> ModelSpec:
        """Name, dimension, input limit and prefixes."""
        ...

    @property
    def digest(self) -> str:
        """Identifies the model's files."""
        ...

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's own tokenizer."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> list[DenseVector]:
        """Return one unit vector of shape (dimension,) per text; blocks."""
        ...


class VectorStore(Protocol):
    """The side store of vectors."""

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, DenseVector]:
        """Return those that are known."""
        ...

    def put_many(self, vectors: Mapping[bytes, DenseVector]) -> None:
        """Keep some."""
        ...


@dataclass(frozen=True, slots=True)
class Embedded:
    """Vectors of all texts.

    Attributes:
        vectors: One per text, in the texts' order.
        is_computed: Of each text, whether it went through the model.
    """

    vectors: tuple[DenseVector, ...]
    is_computed: tuple[bool, ...]


async def embed_chunks(
    chunks: Sequence[Chunk],
    *,
    embedder: PassageEmbedder,
    cache: VectorStore,
    workers: int,
    progress: Progress,
) -> tuple[list[tuple[Chunk, PassageVectors]], int]:
    """Return each chunk with its vectors, and how many chunks went through the model.

    Args:
        chunks: In order.
        embedder: As for ``embed_passages``.
        cache: As for ``embed_passages``.
        workers: As for ``embed_passages``.
        progress: As for ``embed_passages``.
    """
    embedded = await embed_passages(
        texts_to_embed(chunks), embedder=embedder, cache=cache, workers=workers, progress=progress
    )
    flags = iter(embedded.is_computed)
    computed = sum(max(islice(flags, 1 + len(chunk.parts))) for chunk in chunks)
    return put_together(chunks, embedded.vectors), computed


async def embed_passages(
    texts: Sequence[str],
    *,
    embedder: PassageEmbedder,
    cache: VectorStore,
    workers: int,
    progress: Progress,
) -> Embedded:
    """Return the vector of every text; each new one is kept as soon as it is there.

    Longest texts go first, so that no worker is left with a long one at the end, and batches hold
    texts of like length. An interrupted run starts again where it stopped.

    Args:
        texts: What is embedded, without the model's prefix.
        embedder: The model.
        cache: Where vectors are looked up first and kept at once.
        progress: Called from the event loop after each batch.
        workers: Threads that run the model at once; each uses one core.
    """
    keys = [vector_key(embedder.digest, embedder.spec.passage_prefix, text) for text in texts]
    known = await asyncio.to_thread(cache.get_many, keys)
    is_computed = tuple(key not in known for key in keys)
    missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
    meter = _Meter(len(missing), progress)
    batches = iter(list(_batches(missing)))

    async def work() -> None:
        for batch in batches:
            computed = await asyncio.to_thread(_embed_and_keep, embedder, cache, batch)
            known.update(computed)
            meter.advance(len(computed))

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(workers):
                group.create_task(work())
    except ExceptionGroup as failures:  # all workers run one model: the first failure says it all
        raise failures.exceptions[0] from failures
    return Embedded(tuple(known[key] for key in keys), is_computed)


_Batch = Sequence[tuple[bytes, str]]


def _batches(missing: Mapping[bytes, str]) -> Iterator[_Batch]:
    ordered = sorted(missing.items(), key=lambda item: (-len(item[1]), item[0]))
    for at in range(0, len(ordered), BATCH_TEXTS):
        yield ordered[at : at + BATCH_TEXTS]


def _embed_and_keep(
    embedder: PassageEmbedder, cache: VectorStore, batch: _Batch
) -> dict[bytes, DenseVector]:
    vectors = embedder.embed_passages([text for _, text in batch])
    computed = {key: vector for (key, _), vector in zip(batch, vectors, strict=True)}
    cache.put_many(computed)
    return computed


class _Meter:
    """Counts passages and tells how long the rest will take."""

    def __init__(self, total: int, progress: Progress) -> None:
        self._total = total
        self._progress = progress
        self._done = 0
        self._started = time.monotonic()
        self.advance(0)

    def advance(self, count: int) -> None:
        self._done += count
        seconds = time.monotonic() - self._started
        rate = self._done / seconds if self._done and seconds > 0 else 0.0
        left = (self._total - self._done) / rate if rate else None
        self._progress(ProgressEvent("embedding", self._done, self._total, rate, left))
