"""What evaluations work with: models, the side store of vectors, and a cache for scratch builds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from evals.cutters import Cutter, StructuralCutter
from ingestion.chunkers import rules_for
from ingestion.composition import IngestionTools, open_tools
from ingestion.settings import IngestionSettings
from retrieval.embedding import DenseEmbedder
from retrieval.sparse import SparseEncoder
from retrieval.vectors import VectorCache


@dataclass(frozen=True, slots=True)
class Workbench:
    """Open models and the places where scratch builds go.

    Attributes:
        directory: Where scratch builds are cached.
        vectors: The side store, shared with the served index.
        cutter: The pipeline's chunker.
        workers: Threads that run the embedding model at once.
    """

    directory: Path
    embedder: DenseEmbedder
    sparse: SparseEncoder
    vectors: VectorCache
    cutter: Cutter
    workers: int


@asynccontextmanager
async def open_workbench(settings: IngestionSettings) -> AsyncGenerator[Workbench]:
    """Load the models of these settings.

    Raises:
        ModelUnavailableError: The embedding model is not on this machine.
    """
    async with open_pipeline(settings) as tools:
        yield bench_of(tools, settings)


@asynccontextmanager
async def open_pipeline(settings: IngestionSettings) -> AsyncGenerator[IngestionTools]:
    """Open the pipeline's own tools.

    Raises:
        ModelUnavailableError: The embedding model is not on this machine.
    """
    await asyncio.to_thread(settings.data_dir.mkdir, parents=True, exist_ok=True)
    tools = await asyncio.to_thread(open_tools, settings)
    try:
        yield tools
    finally:
        await tools.close()


def bench_of(tools: IngestionTools, settings: IngestionSettings) -> Workbench:
    """Return a workbench made of the pipeline's tools."""
    rules = rules_for("structural", input_limit_tokens=tools.embedder.spec.input_limit_tokens)
    return Workbench(
        directory=settings.data_dir / "evals",
        embedder=tools.embedder,
        sparse=tools.sparse,
        vectors=tools.vectors,
        cutter=StructuralCutter(tools.embedder.tokenizer, rules),
        workers=settings.ingest_workers,
    )
