"""Sparse and late-interaction models of the embedding service, for hosts without models."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from pydantic import ValidationError

from retrieval.chunk import Matrix, SparseVector
from retrieval.embedding_wire import (
    MOST_TEXTS,
    LateModelReply,
    LateReply,
    SparseModelReply,
    SparseReply,
)
from retrieval.errors import ModelUnavailableError, VectorError
from retrieval.remote import RemoteCaller
from retrieval.sparse import Term, heaviest_terms


class RemoteSparseEncoder:
    """The learned sparse model of our embedding service. Its calls block.

    Args:
        caller: Reaches it.

    Raises:
        ModelUnavailableError: It cannot be reached, or has no such model.
    """

    def __init__(self, caller: RemoteCaller) -> None:
        self._caller = caller
        try:
            self._described = SparseModelReply.model_validate(caller.call("/model/sparse"))
        except ValidationError as error:
            raise ModelUnavailableError(f"{caller.url} is no embedding service") from error

    @property
    def name(self) -> str:
        """Name of the model, for the build's stamp."""
        return self._described.name

    @property
    def saturation(self) -> float:
        """Most that one term usually weighs in a document."""
        return self._described.saturation

    @property
    def uses_idf(self) -> bool:
        """Whether a query's terms are multiplied by their IDF."""
        return self._described.uses_idf

    def fitted(self, texts: Iterable[str]) -> RemoteSparseEncoder:  # noqa: ARG002 - learned
        """Return itself: a learned model's weights do not depend on the corpus."""
        return self

    def embed_document(self, text: str) -> SparseVector:
        """Return the model's weights of a passage."""
        return self._embed([text], "passage")[0]

    def embed_query(self, text: str) -> SparseVector:
        """Return the model's weights of a query."""
        return self._embed([text], "query")[0]

    def terms(self, text: str) -> tuple[Term, ...]:
        """Return for each word of the text the term it weighs heaviest on, each term once."""
        words = list(dict.fromkeys(text.split()))
        return heaviest_terms(words, self._embed(words, "query"))

    def _embed(self, texts: Sequence[str], kind: str) -> list[SparseVector]:
        found: list[SparseVector] = []
        for at in range(0, len(texts), MOST_TEXTS):
            part = list(texts[at : at + MOST_TEXTS])
            body: dict[str, object] = {"texts": part, "kind": kind, "model": self.name}
            try:
                reply = SparseReply.model_validate(self._caller.call("/embed/sparse", body))
            except ValidationError as error:
                raise ModelUnavailableError(f"{self._caller.url} answers nonsense") from error
            if len(reply.vectors) != len(part):
                raise VectorError(f"{len(part)} texts were sent, {len(reply.vectors)} came back")
            found += [SparseVector(one.indices, one.values) for one in reply.vectors]
        return found


class RemoteLateEmbedder:
    """The late-interaction model of our embedding service. Its calls block.

    Args:
        caller: Reaches it.

    Raises:
        ModelUnavailableError: It cannot be reached, or has no such model.
    """

    def __init__(self, caller: RemoteCaller) -> None:
        self._caller = caller
        try:
            self._described = LateModelReply.model_validate(caller.call("/model/late"))
        except ValidationError as error:
            raise ModelUnavailableError(f"{caller.url} is no embedding service") from error

    @property
    def name(self) -> str:
        """Name of the model, for the build's stamp."""
        return self._described.name

    @property
    def dimension(self) -> int:
        """Length of its rows."""
        return self._described.dimension

    def embed_passages(self, texts: Sequence[str]) -> list[Matrix]:
        """Return one matrix per text, shape (n_tokens, dimension), float32."""
        found: list[Matrix] = []
        for at in range(0, len(texts), MOST_TEXTS):
            found += self._embed(list(texts[at : at + MOST_TEXTS]), "passage")
        return found

    def embed_query(self, text: str) -> Matrix:
        """Return the rows of a query, shape (n_tokens, dimension), float32."""
        return self._embed([text], "query")[0]

    def _embed(self, texts: list[str], kind: str) -> list[Matrix]:
        body: dict[str, object] = {"texts": texts, "kind": kind, "model": self.name}
        try:
            reply = LateReply.model_validate(self._caller.call("/embed/colbert", body))
        except ValidationError as error:
            raise ModelUnavailableError(f"{self._caller.url} answers nonsense") from error
        matrices = [np.asarray(rows, dtype=np.float32) for rows in reply.vectors]
        if len(matrices) != len(texts):
            raise VectorError(f"{len(texts)} texts were sent and {len(matrices)} came back")
        for matrix in matrices:
            if matrix.ndim != 2 or matrix.shape[1] != self.dimension:  # noqa: PLR2004 - a matrix
                raise VectorError(f"a matrix has the shape {matrix.shape}, not (n, dimension)")
        return matrices
