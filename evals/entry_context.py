"""What the command line calls to evaluate the context tools."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from context.model import TextModel
from evals.compression import CompressionSummary, evaluate
from evals.entry_evidence import open_corpus
from evals.packing import PackingSummary, evaluate_packing
from evals.scratch import silent
from evals.sets import Split, load_set
from evals.workbench import open_workbench
from ingestion.report import Progress
from ingestion.settings import IngestionSettings
from retrieval.chunk import DenseVector
from retrieval.opening import open_embedder
from retrieval.query_embedding import QueryEmbedder
from retrieval.settings import RetrievalSettings
from retrieval.tokens import Tokenizer


async def eval_compression(
    folder: Path, settings: RetrievalSettings, *, split: Split = "all"
) -> CompressionSummary:
    """Measure whether the sentence that answers survives compression.

    Args:
        folder: A set with a corpus, or the sample set.
        settings: Which model measures closeness.
        split: Half of the questions; the weights were chosen on development halves.

    Raises:
        EvalSetError: The set has no corpus, or no question with a sentence that answers it.
        ModelUnavailableError: The embedding model is not on this machine.
    """
    async with _open_model(settings) as model:
        return await evaluate(folder, model, split)


async def eval_packing(
    folder: Path,
    settings: IngestionSettings,
    *,
    budget_tokens: int,
    split: Split = "all",
    progress: Progress = silent,
) -> PackingSummary:
    """Measure what packing the evidence costs an answer, and what it saves.

    Args:
        folder: A set with a corpus, or the sample set.
        settings: Where the data is and how documents are cut.
        budget_tokens: Tokens of one search's passages.
        split: Half of the questions.
        progress: Called while passages are embedded.

    Raises:
        EvalSetError: The folder is no labelled set.
    """
    eval_set = load_set(folder)
    questions = (*eval_set.queries, *eval_set.short)
    async with open_workbench(settings) as bench, open_corpus(eval_set, bench, progress) as scratch:
        return await evaluate_packing(scratch, eval_set.name, questions, budget_tokens, split)


class _KeepingModel:
    """Embeds each text once, however many cases share it."""

    def __init__(self, embedder: QueryEmbedder) -> None:
        self._embedder = embedder
        self._vectors: dict[str, DenseVector] = {}

    @property
    def tokenizer(self) -> Tokenizer:
        return self._embedder.tokenizer

    async def embed_query(self, text: str) -> DenseVector:
        return await self._embedder.embed(text)

    async def embed_passages(self, texts: Sequence[str]) -> list[DenseVector]:
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        vectors = await self._embedder.embed_passages(new)
        self._vectors.update(zip(new, vectors, strict=True))
        return [self._vectors[text] for text in texts]


@asynccontextmanager
async def _open_model(settings: RetrievalSettings) -> AsyncGenerator[TextModel]:
    embedder = QueryEmbedder(await asyncio.to_thread(open_embedder, settings))
    try:
        yield _KeepingModel(embedder)
    finally:
        embedder.close()
