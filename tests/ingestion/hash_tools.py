"""The tools of a worker whose model costs nothing; everything else is real."""

from __future__ import annotations

from collections.abc import Callable

from ingestion.composition import IngestionTools, open_chunker, open_fetcher
from ingestion.records import BuildRecords
from ingestion.settings import IngestionSettings
from retrieval.opening import open_catalog
from retrieval.opening_models import open_sparse_encoder
from retrieval.vectors import VectorCache
from tests.ingestion.fakes import HashEmbedder, InlineParser


def hash_tools(embedder: HashEmbedder) -> Callable[[IngestionSettings], IngestionTools]:
    def opened(settings: IngestionSettings) -> IngestionTools:
        return IngestionTools(
            parser=InlineParser(),
            fetcher=open_fetcher(settings),
            embedder=embedder,
            chunker=open_chunker(settings, embedder),
            sparse=open_sparse_encoder(),
            late=None,
            catalog=open_catalog(settings),
            vectors=VectorCache(settings.vectors_path),
            records=BuildRecords(settings.records_dir),
        )

    return opened
