"""Errors of the engine and the index.

Tree:
    RetrievalError
      IndexUnavailableError   the index cannot be reached, is locked, or holds no published build
      BuildMismatchError      a build was made with another model, dimension, header or chunker
      BuildGoneError          the pinned build is no longer loaded
      ModelUnavailableError   an embedding model cannot be loaded here
      InputTooLongError       a query is longer than the embedder can read even in pieces
      UnknownChunkError       no visible chunk has this id
      BadRequestError         an unknown profile, filter field or cursor
      ServiceBusyError        the embedding service has no place for another call
      RerankError             the reranker failed; the fused order stands
      VectorError             a vector has the wrong dimension, no length, or NaN
"""

from __future__ import annotations

from service.errors import VouchError


class RetrievalError(VouchError):
    """Root of the errors of the engine and the index."""

    code = "retrieval_error"


class IndexUnavailableError(RetrievalError):
    """The index cannot be reached, is locked, or holds no published build."""

    code = "index_unavailable"


class BuildMismatchError(RetrievalError):
    """A build was made with another model, dimension, header format or chunker."""

    code = "build_mismatch"


class BuildGoneError(RetrievalError):
    """The build a call was pinned to is no longer loaded."""

    code = "build_gone"


class ModelUnavailableError(RetrievalError):
    """An embedding model cannot be loaded here; says what to use instead."""

    code = "model_unavailable"


class InputTooLongError(RetrievalError):
    """A query is longer than the embedder can read even in pieces."""

    code = "input_too_long"


class UnknownChunkError(RetrievalError):
    """No visible chunk has this id."""

    code = "unknown_chunk"


class BadRequestError(RetrievalError):
    """An unknown profile, filter field or cursor."""

    code = "bad_request"


class VectorError(RetrievalError):
    """A vector has the wrong dimension, no length, or NaN; names the chunk."""

    code = "bad_vector"


class RerankError(RetrievalError):
    """The reranker failed, was late, or answered nonsense; the fused order stands."""

    code = "rerank_failed"


class ServiceBusyError(RetrievalError):
    """The embedding service has no place for another call."""

    code = "service_busy"
