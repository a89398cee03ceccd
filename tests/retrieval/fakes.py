"""Hand-written stand-ins for the model, so that a test chooses which vector a text has."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from retrieval.chunk import DenseVector
from retrieval.models import DEFAULT_MODEL, ModelSpec, resolve_model
from retrieval.tokens import Tokenizer
from tests.retrieval.corpus import DIMENSION, vector


def real_tokenizer(models_dir: Path) -> Tokenizer:
    """The packaged model's own tokenizer; loading it takes milliseconds."""
    directory = resolve_model(DEFAULT_MODEL, models_dir).directory
    assert directory is not None
    return Tokenizer((directory / "tokenizer.json").read_text(encoding="utf-8"))


class FakeEmbedder:
    """Gives chosen texts chosen vectors, and every other text one of its own.

    Args:
        tokenizer: A real one.
        vectors: Vectors of chosen texts.
        gate: When given, each query waits until it is set.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        vectors: Mapping[str, DenseVector] | None = None,
        *,
        gate: threading.Event | None = None,
        limit_tokens: int = 256,
    ) -> None:
        self._tokenizer = tokenizer
        self._vectors = dict(vectors or {})
        self._gate = gate
        self._limit_tokens = limit_tokens
        self.started = threading.Event()
        self.queries: Counter[str] = Counter()

    @property
    def spec(self) -> ModelSpec:
        return ModelSpec("fake", DIMENSION, self._limit_tokens, "", "", 0.5)

    @property
    def digest(self) -> str:
        return "fake-1"

    @property
    def tokenizer(self) -> Tokenizer:
        return self._tokenizer

    def embed_passages(self, texts: Sequence[str]) -> list[DenseVector]:
        return [self._vector(text) for text in texts]

    def embed_query(self, text: str) -> DenseVector:
        self.queries[text] += 1
        self.started.set()
        if self._gate is not None:
            assert self._gate.wait(timeout=10)
        return self._vector(text)

    def _vector(self, text: str) -> DenseVector:
        known = self._vectors.get(text)
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
        return known if known is not None else vector(seed)


def at_cosine(axis: DenseVector, cosine: float, seed: int) -> DenseVector:
    """Return a unit vector with exactly this cosine to another unit vector."""
    other = vector(seed).astype(np.float64)
    other -= np.dot(other, axis) * axis
    other /= np.linalg.norm(other)
    made = cosine * axis.astype(np.float64) + np.sqrt(1.0 - cosine**2) * other
    return np.asarray(made, dtype=np.float32)
