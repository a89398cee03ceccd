"""The parts of the engine, made from settings: one place that decides which adapter is used."""

from __future__ import annotations

from retrieval.builds import BuildCatalog
from retrieval.catalog import Catalog
from retrieval.embedding import DenseEmbedder, FastembedEmbedder
from retrieval.manifest import Stamp
from retrieval.models import resolve_model
from retrieval.settings import RetrievalSettings
from retrieval.sparse import Bm25Encoder, SparseEncoder
from retrieval.vectors import VectorCache


def open_embedder(settings: RetrievalSettings) -> DenseEmbedder:
    """Load the dense model of these settings; blocks for about a second.

    Raises:
        ModelUnavailableError: It is not on this machine.
    """
    resolved = resolve_model(settings.embedding_model, settings.models_dir)
    return FastembedEmbedder(resolved, threads=settings.embedding_threads)


def open_sparse_encoder() -> SparseEncoder:
    """Return the sparse encoder."""
    return Bm25Encoder()


def open_vectors(settings: RetrievalSettings) -> VectorCache:
    """Open the side store of vectors."""
    return VectorCache(settings.vectors_path)


def open_catalog(settings: RetrievalSettings) -> Catalog:
    """Open the builds: on the Qdrant server when one is configured, else on this disk."""
    if settings.qdrant_url:
        # Costs two seconds and 130 MB, so it is loaded only where a server is configured.
        from retrieval.builds_qdrant import connect  # noqa: PLC0415

        return connect(
            settings.qdrant_url,
            settings.qdrant_api_key.get_secret_value(),
            settings.collection,
            timeout_seconds=settings.qdrant_timeout_seconds,
        )
    return BuildCatalog(settings.data_dir, settings.collection)


def make_stamp(
    embedder: DenseEmbedder, sparse: SparseEncoder, *, header_format: str, chunker: str
) -> Stamp:
    """Return what a build made with these parts must be stamped with."""
    spec = embedder.spec
    return Stamp(
        embedding_model=spec.name,
        model_digest=embedder.digest,
        dimension=spec.dimension,
        query_prefix=spec.query_prefix,
        passage_prefix=spec.passage_prefix,
        header_format=header_format,
        chunker=chunker,
        sparse_model=sparse.name,
    )
