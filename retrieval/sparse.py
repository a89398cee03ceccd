"""Words as sparse vectors: stemmed BM25 term weights, computed without any model file.

A document's vector holds term frequencies saturated by BM25; a query's holds one per term. The IDF
is multiplied into the query by the engine, from the build's own term statistics: the numbers are
then the same on the embedded engine, a server and a sharded cluster, and rest only on chunks that
the caller may see.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from qdrant_edge import Bm25, Bm25Config, Language, SnowballLanguage, SnowballParams, StopwordsSet

from retrieval.chunk import SparseVector
from retrieval.symbols import name_symbols

_ANALYSIS_VERSION = 2

# Words that ask but say nothing of the matter; the language's own stop words come on top.
_QUESTION_WORDS = frozenset(
    word
    for line in (
        "what which who whom whose when where why how do does did can could should would may might",
        "must shall will am is are was were be been being have has had i me my we our you your",
        "tell explain describe please give show mean means about there",
    )
    for word in line.split()
)
_PIECE = re.compile(r"[^\W_]+")
_IDENTIFIER = re.compile(
    r"\b[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+\b|\b[a-z]+[A-Z]\w*|\b\w*[a-z][A-Z]\w*"
)
_CAMEL_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@dataclass(frozen=True, slots=True)
class Term:
    """One analysed word of a text.

    Attributes:
        term_id: Its index in sparse vectors, unsigned 32-bit.
        surface: The word as the text has it.
    """

    term_id: int
    surface: str


class SparseEncoder(Protocol):
    """Turns texts into sparse vectors of terms."""

    @property
    def name(self) -> str:
        """Name with every parameter, for the build's stamp."""
        ...

    @property
    def saturation(self) -> float:
        """Most that one term can weigh in a document, for normalising sums."""
        ...

    @property
    def uses_idf(self) -> bool:
        """Whether a query's terms are multiplied by their IDF."""
        ...

    def fitted(self, texts: Iterable[str]) -> SparseEncoder:
        """Return the encoder as it suits a corpus; its queries and its name stay the same.

        Args:
            texts: Every passage that is about to be indexed together.
        """
        ...

    def embed_document(self, text: str) -> SparseVector:
        """Return the term weights of a passage."""
        ...

    def embed_query(self, text: str) -> SparseVector:
        """Return the terms of a query, each with its weight before IDF."""
        ...

    def terms(self, text: str) -> tuple[Term, ...]:
        """Return the analysed words of a text with their surface forms, each term once."""
        ...


def heaviest_terms(words: Sequence[str], vectors: Sequence[SparseVector]) -> tuple[Term, ...]:
    """Return for each word the term its vector weighs heaviest on, each term once."""
    found: dict[int, str] = {}
    for word, vector in zip(words, vectors, strict=True):
        if vector.indices:
            at = max(range(len(vector.values)), key=vector.values.__getitem__)
            found.setdefault(vector.indices[at], word.strip(".,;:!?()[]{}\"'`"))
    return tuple(Term(term_id, surface) for term_id, surface in found.items())


class Bm25Encoder:
    """BM25 with an English stemmer and question words among the stop words.

    Identifiers (``snake_case``, ``camelCase``) are indexed whole and in parts, so that a question
    finds them by either; operators and names like ``__init__`` have words of their own.

    The average length of a passage is measured on the corpus when a build is written: prose and
    code differ by a factor of two, and a constant costs either of them. It changes weights of
    documents only, so that a query needs not know it and it is not part of the name.

    Args:
        k1: Saturation of term frequency, >= 0.
        b: Length normalisation, in [0, 1].
        average_terms: Terms of an average passage, repeated ones counted.
    """

    def __init__(self, *, k1: float = 1.6, b: float = 0.75, average_terms: float = 60.0) -> None:
        self._k1 = k1
        self._b = b
        self._bm25 = _bm25(k1, b, average_terms)

    @property
    def name(self) -> str:
        """Name with every parameter that a reader depends on."""
        return f"bm25-en-{_ANALYSIS_VERSION}(k1={self._k1:g},b={self._b:g})"

    @property
    def saturation(self) -> float:
        """Most that one term can weigh in a document: k1 + 1."""
        return self._k1 + 1.0

    @property
    def uses_idf(self) -> bool:
        """BM25 is nothing without it."""
        return True

    def fitted(self, texts: Iterable[str]) -> Bm25Encoder:
        """Return the encoder with the average length of these passages."""
        # With b = 0 a weight tells its term's frequency: w = f (k + 1) / (f + k), here k = 1.
        counting = _bm25(1.0, 0.0, 1.0)
        lengths = [
            sum(w / (2.0 - w) for w in counting.embed_document(_expanded(text)).values)
            for text in texts
        ]
        average = math.fsum(lengths) / len(lengths) if lengths else 0.0
        return Bm25Encoder(k1=self._k1, b=self._b, average_terms=max(1.0, average))

    def embed_document(self, text: str) -> SparseVector:
        """Return the BM25 term weights of a passage, without IDF."""
        vector = self._bm25.embed_document(_expanded(text))
        return SparseVector(tuple(vector.indices), tuple(vector.values))

    def embed_query(self, text: str) -> SparseVector:
        """Return the terms of a query, each once and with weight one."""
        vector = self._bm25.embed_query(_expanded(text))
        return SparseVector(tuple(vector.indices), tuple(vector.values))

    def terms(self, text: str) -> tuple[Term, ...]:
        """Return the analysed words of a text with their surface forms, each term once."""
        found: dict[int, str] = {}
        for word in text.split():
            for piece in _PIECE.findall(word):
                for term_id in self._bm25.embed_query(piece).indices:
                    found.setdefault(term_id, piece)
            for term_id in self._bm25.embed_query(_expanded(word)).indices:
                found.setdefault(term_id, word.strip(".,;:!?()[]{}\"'`"))
        known = set(self.embed_query(text).indices)
        return tuple(Term(term, surface) for term, surface in found.items() if term in known)


def _bm25(k1: float, b: float, average_terms: float) -> Bm25:
    return Bm25(
        Bm25Config(
            k=k1,
            b=b,
            avg_len=average_terms,
            language="english",
            ascii_folding=True,
            stemmer=SnowballParams(SnowballLanguage.English),
            stopwords=StopwordsSet(languages={Language.English}, custom=set(_QUESTION_WORDS)),
        )
    )


def _expanded(text: str) -> str:
    return expand_identifiers(name_symbols(text))


def expand_identifiers(text: str) -> str:
    """Return the text with each identifier followed by its joined form and its parts.

    ``parse_error`` gains ``parseerror``; ``parseError`` gains ``parse Error``.
    """

    def expanded(match: re.Match[str]) -> str:
        word = match.group()
        parts = [part for piece in word.split("_") for part in _CAMEL_PART.findall(piece)]
        extra = [word.replace("_", "")] if "_" in word else []
        if len(parts) > len(word.split("_")):
            extra += parts
        return " ".join([word, *extra])

    return _IDENTIFIER.sub(expanded, text)
