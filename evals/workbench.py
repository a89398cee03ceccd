"""What evaluations work with: models, the side store of vectors, and a cache for scratch builds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from evals.cutters import Cutter, StructuralCutter
from ingestion.chunkers import rules_for
from ingestion.composition import IngestionTools, open_tools, part_rules
from ingestion.settings import IngestionSettings
from retrieval.embedding import DenseEmbedder
from retrieval.sparse import SparseEncoder
from retrieval.vectors import VectorCache


@dataclass(frozen=True, slots=True)
class Workbench:
    """Open models and the places where scratch builds go.

    Attributes:
        settings: Of the pipeline that makes the served index.
        tools: The pipeline's own; the side store of vectors is shared with the served index.
        directory: Where scratch builds are cached.
        cutter: The pipeline's chunker.
    """

    settings: IngestionSettings
    tools: IngestionTools
    directory: Path
    cutter: Cutter

    @property
    def embedder(self) -> DenseEmbedder:
        """The dense model."""
        return self.tools.embedder

    @property
    def sparse(self) -> SparseEncoder:
        """The sparse encoder."""
        return self.tools.sparse

    @property
    def vectors(self) -> VectorCache:
        """The side store of vectors."""
        return self.tools.vectors


@asynccontextmanager
async def open_workbench(settings: IngestionSettings) -> AsyncGenerator[Workbench]:
    """Load the models of these settings.

    Raises:
        ModelUnavailableError: The embedding model is not on this machine.
    """
    await asyncio.to_thread(settings.data_dir.mkdir, parents=True, exist_ok=True)
    tools = await asyncio.to_thread(open_tools, settings)
    rules = rules_for(
        "structural",
        input_limit_tokens=tools.embedder.spec.input_limit_tokens,
        parts=part_rules(settings),
    )
    try:
        yield Workbench(
            settings=settings,
            tools=tools,
            directory=settings.data_dir / "evals",
            cutter=StructuralCutter(tools.embedder.tokenizer, rules),
        )
    finally:
        await tools.close()
