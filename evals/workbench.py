"""What evaluations work with: models, the side store of vectors, and a cache for scratch builds."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from evals.cutters import Cutter, StructuralCutter
from ingestion.run import chunk_rules
from ingestion.settings import IngestionSettings
from retrieval.embedding import DenseEmbedder
from retrieval.opening import open_embedder, open_sparse_encoder, open_vectors
from retrieval.sparse import SparseEncoder
from retrieval.vectors import VectorCache


@dataclass(frozen=True, slots=True)
class Workbench:
    """Open models and the places where scratch builds go.

    Attributes:
        directory: Where scratch builds are cached.
        cutter: The chunker of the default profile.
        workers: Threads that run the embedding model at once.
    """

    directory: Path
    embedder: DenseEmbedder
    sparse: SparseEncoder
    vectors: VectorCache
    cutter: Cutter
    workers: int


@contextmanager
def open_workbench(settings: IngestionSettings) -> Generator[Workbench]:
    """Load the models of these settings; the side store is the served index's own.

    Raises:
        ModelUnavailableError: The embedding model is not on this machine.
    """
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    embedder = open_embedder(settings)
    vectors = open_vectors(settings)
    rules = chunk_rules(settings, embedder.spec.input_limit_tokens)
    try:
        yield Workbench(
            directory=settings.data_dir / "evals",
            embedder=embedder,
            sparse=open_sparse_encoder(),
            vectors=vectors,
            cutter=StructuralCutter(embedder.tokenizer, rules),
            workers=settings.ingest_workers,
        )
    finally:
        vectors.close()
