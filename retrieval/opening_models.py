"""Sparse encoders, late-interaction models and rerankers: here, or of the embedding service.

A service is used where its address is set: one for each kind of model, or one for all of them.
What the profile does not have is never asked of a service.
"""

from __future__ import annotations

from retrieval.late import FastembedLateEmbedder, LateEmbedder
from retrieval.profiles import (
    IngestionProfile,
    RerankerProfile,
    SparseProfile,
    load_profiles,
    profile_named,
)
from retrieval.remote import RemoteCaller
from retrieval.remote_parts import RemoteLateEmbedder, RemoteSparseEncoder
from retrieval.rerank import Reranker, open_reranker
from retrieval.settings import RetrievalSettings
from retrieval.sparse import Bm25Encoder, SparseEncoder
from retrieval.sparse_models import FastembedSparseEncoder
from service.circuit import Circuit

_BM25 = "bm25"


def open_sparse_encoder(
    settings: RetrievalSettings | None = None, circuit: Circuit | None = None
) -> SparseEncoder:
    """Return the sparse encoder of these settings' profile; without settings, the default one.

    Args:
        settings: Of the process.
        circuit: Keeps calls away from a service that fails; None: each call is tried.

    Raises:
        ModelUnavailableError: It is a model that is neither here nor on the service.
    """
    url = (settings.sparse_url or settings.embedding_url) if settings else ""
    if settings is None or not url or _ingestion(settings).sparse.model == _BM25:
        return open_local_sparse_encoder(settings)
    return RemoteSparseEncoder(_caller(settings, url, circuit))


def open_local_sparse_encoder(settings: RetrievalSettings | None = None) -> SparseEncoder:
    """Return the sparse encoder of a profile from this machine.

    Raises:
        ModelUnavailableError: It is a model that is not on this machine.
    """
    wanted = _ingestion(settings).sparse if settings else SparseProfile()
    if wanted.model == _BM25:
        return Bm25Encoder(k1=wanted.k1, b=wanted.b)
    return FastembedSparseEncoder(wanted.model)


def open_late_embedder(
    settings: RetrievalSettings, circuit: Circuit | None = None
) -> LateEmbedder | None:
    """Reach or load the late-interaction model of these settings' profile, if it has one.

    Args:
        settings: Of the process.
        circuit: Keeps calls away from a service that fails; None: each call is tried.

    Raises:
        ModelUnavailableError: It is neither on this machine nor on the service.
    """
    url = settings.late_url or settings.embedding_url
    if not url or _ingestion(settings).late_interaction is None:
        return open_local_late_embedder(settings)
    return RemoteLateEmbedder(_caller(settings, url, circuit))


def open_local_late_embedder(settings: RetrievalSettings) -> LateEmbedder | None:
    """Load the late-interaction model of a profile from this machine, if it has one.

    Raises:
        ModelUnavailableError: It is not on this machine.
    """
    wanted = _ingestion(settings).late_interaction
    return FastembedLateEmbedder(wanted.model, wanted.dimension) if wanted else None


def open_reranker_of(
    settings: RetrievalSettings, wanted: RerankerProfile, circuit: Circuit | None = None
) -> Reranker:
    """Return the reranker of a profile: the service's where there is one, else the profile's own.

    An address of reranking alone wins over the profile; the embedding service wins over a model of
    this machine, not over an address that the profile names.

    Args:
        settings: Of the process.
        wanted: What the profile says.
        circuit: Keeps calls away while it fails; None: each call is tried.
    """
    is_address = wanted.model.startswith(("http://", "https://"))
    url = settings.reranker_url or ("" if is_address else settings.embedding_url)
    if url:
        base = url.rstrip("/").removesuffix("/rerank")
        wanted = wanted.model_copy(update={"model": f"{base}/rerank"})
    return open_reranker(wanted, circuit)


def _ingestion(settings: RetrievalSettings) -> IngestionProfile:
    profiles = load_profiles(settings.profiles_file, settings.environment)
    return profile_named(profiles, settings.profile).ingestion


def _caller(settings: RetrievalSettings, url: str, circuit: Circuit | None) -> RemoteCaller:
    return RemoteCaller(url, timeout_seconds=settings.embedding_timeout_seconds, circuit=circuit)
