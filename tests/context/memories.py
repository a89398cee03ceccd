"""Memories over real stores, and a model that needs no files."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from retrieval.chunk import DenseVector
from tests.ingestion.words import WordTokenizer

DIMENSION = 16


class HashModel:
    """Gives each text a unit vector of its own."""

    @property
    def tokenizer(self) -> WordTokenizer:
        return WordTokenizer()

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[DenseVector]:
        return [vector_of(text) for text in texts]

    async def embed_query(self, text: str) -> DenseVector:
        return vector_of(text)


def vector_of(text: str) -> DenseVector:
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
    made = np.random.default_rng(seed).normal(size=DIMENSION)
    return np.asarray(made / np.linalg.norm(made), dtype=np.float32)
