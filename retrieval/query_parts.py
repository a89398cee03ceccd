"""The sparse and the late side of a query, without holding anybody up."""

from __future__ import annotations

import asyncio

from retrieval.chunk import Matrix, SparseVector
from retrieval.late import LateEmbedder
from retrieval.profiles import SearchProfile
from retrieval.sparse import Bm25Encoder, SparseEncoder, Term


async def embed_sparse_query(
    encoder: SparseEncoder, text: str
) -> tuple[SparseVector, tuple[Term, ...]]:
    """Return a query's vector and terms.

    Raises:
        RetrievalError: The encoder is a model that fails, or on a service that does.
    """

    def embed() -> tuple[SparseVector, tuple[Term, ...]]:
        return encoder.embed_query(text), encoder.terms(text)

    # BM25 is a formula; a learned model, here or on a service, blocks.
    return embed() if isinstance(encoder, Bm25Encoder) else await asyncio.to_thread(embed)


async def embed_late_query(
    embedder: LateEmbedder | None, text: str, profile: SearchProfile
) -> Matrix | None:
    """Return a query's rows, shape (n_tokens, dimension); None where they count for nothing.

    Raises:
        RetrievalError: The model is on a service that fails.
    """
    if embedder is None or profile.late_weight <= 0:
        return None
    return await asyncio.to_thread(embedder.embed_query, text)
