"""Terms of passages, read once."""

from __future__ import annotations

from dataclasses import dataclass, field

from retrieval.analysis import CachedAnalyser
from retrieval.chunk import SparseVector
from tests.retrieval.corpus import SPARSE


@dataclass
class Counting:
    """Reads as BM25 does, and keeps what it read."""

    read: list[str] = field(default_factory=list[str])

    def embed_document(self, text: str) -> SparseVector:
        self.read.append(text)
        return SPARSE.embed_document(text)

    def embed_query(self, text: str) -> SparseVector:
        self.read.append(text)
        return SPARSE.embed_query(text)


def test_a_sentence_is_read_once_and_a_query_each_time() -> None:
    inner = Counting()
    cached = CachedAnalyser(inner)
    first = [cached.embed_document("The gateway answers."), cached.embed_query("gateway")]
    again = [cached.embed_document("The gateway answers."), cached.embed_query("gateway")]
    assert first == again
    assert inner.read == ["The gateway answers.", "gateway", "gateway"]


def test_what_is_kept_is_bounded_in_number_and_length() -> None:
    inner = Counting()
    cached = CachedAnalyser(inner, size=1)
    long = "word " * 1000
    for text in ("one", "two", "one", long, long):
        cached.embed_document(text)
    assert inner.read == ["one", "two", "one", long, long]
