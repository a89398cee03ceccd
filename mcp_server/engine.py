"""What the tool server asks of a retrieval engine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol, TypeAlias

from context.tokens import TokenCounter
from retrieval.chunk import DenseVector
from retrieval.explain import Explanation
from retrieval.manifest import Manifest
from retrieval.search import SearchOutcome, SearchRequest, SectionOutcome, SourceOutcome
from retrieval.store import Filter, StoredPoint


class Engine(Protocol):
    """Searches and reads one collection. Every method raises ``RetrievalError``."""

    async def search(self, request: SearchRequest) -> SearchOutcome:
        """Search, with the numbers and the order of every stage."""
        ...

    async def explain(self, request: SearchRequest, chunk_id: str) -> Explanation:
        """Say why a chunk is among the hits of a search, or is not."""
        ...

    async def source(self, chunk_id: str, *, where: Filter, build: str = "") -> SourceOutcome:
        """Read one visible chunk."""
        ...

    async def sections(
        self, source: str, *, cursor: str, where: Filter, build: str = ""
    ) -> SectionOutcome:
        """Read one page of the section tree."""
        ...

    async def related(
        self, chunk_id: str, *, top_k: int, where: Filter, build: str = ""
    ) -> SearchOutcome:
        """Find the chunks nearest to a chunk."""
        ...

    async def read(
        self, chunk_ids: Sequence[str], *, where: Filter, build: str = ""
    ) -> Mapping[str, StoredPoint]:
        """Return the visible ones of these chunks, with their vectors."""
        ...

    async def measure(
        self, query: str, chunk_ids: Sequence[str], *, where: Filter, build: str = ""
    ) -> Mapping[str, float]:
        """Return the cosine of each visible chunk against a query."""
        ...

    async def embed(self, texts: Sequence[str]) -> Sequence[DenseVector]:
        """Return the unit vector of each text as a passage."""
        ...

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[DenseVector]:
        """Return the unit vector of each of many texts."""
        ...

    async def embed_query(self, text: str) -> DenseVector:
        """Return the unit vector of a text as a query."""
        ...

    async def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return the logit of each text.

        Raises:
            RerankError: There is no reranker, or it failed.
        """
        ...

    @property
    def tokenizer(self) -> TokenCounter:
        """The tokenizer of the embedding model."""
        ...

    def info(self) -> Manifest:
        """Return the build in force."""
        ...

    async def refresh(self) -> None:
        """Open the published build when it is another than the one in force.

        Raises:
            RetrievalError: Nothing is published, or it cannot be served.
        """
        ...

    async def close(self) -> None:
        """Release the index and the models."""
        ...


EngineOpener: TypeAlias = Callable[[], Awaitable[Engine]]
