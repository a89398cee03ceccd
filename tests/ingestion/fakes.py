"""A model that costs nothing and is counted."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from ingestion.document import Parsed, RawContent
from ingestion.parsers.registry import parse
from ingestion.report import ProgressEvent
from retrieval.chunk import DenseVector
from retrieval.models import ModelSpec
from retrieval.tokens import Tokenizer
from tests.ingestion.words import WordTokenizer

_WORDS = """{"version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
 "normalizer": null, "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null,
 "decoder": null, "model": {"type": "WordLevel", "vocab": {"[UNK]": 0}, "unk_token": "[UNK]"}}"""


class HashEmbedder:
    """Vectors from a hash of the text; remembers every text it was given."""

    spec = ModelSpec("hash", 8, 128, "", "", 0.5)
    digest = "hash-1"

    def __init__(self) -> None:
        self.tokenizer = Tokenizer(_WORDS)
        self.embedded: list[str] = []
        self.fail_after: int | None = None

    def embed_passages(self, texts: Sequence[str]) -> list[DenseVector]:
        if self.fail_after is not None and len(self.embedded) >= self.fail_after:
            raise RuntimeError("the model broke")
        self.embedded += texts
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> DenseVector:
        raw = np.frombuffer(hashlib.sha256(text.encode()).digest()[:8], dtype=np.uint8)
        vector = raw.astype(np.float32) - np.float32(127.5)
        return (vector / np.linalg.norm(vector)).astype(np.float32)


class InlineParser:
    """The real parsers without a process around them."""

    def parse(self, content: RawContent) -> Parsed:
        return parse(content)

    def close(self) -> None:
        pass


class Recorder:
    """Keeps every progress event."""

    def __init__(self) -> None:
        self.events: list[ProgressEvent] = []

    def __call__(self, event: ProgressEvent) -> None:
        self.events.append(event)


class TopicEmbedder:
    """Vectors by the first word of a text: equal words, equal vectors."""

    def __init__(self) -> None:
        self.tokenizer = WordTokenizer()

    def embed_passages(self, texts: Sequence[str]) -> list[DenseVector]:
        return [HashEmbedder().embed_query(text.split()[0]) for text in texts]
