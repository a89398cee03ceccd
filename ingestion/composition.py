"""The composition root: settings to the tools a run works with."""

from __future__ import annotations

from dataclasses import dataclass

from ingestion.chunkers import make_chunker
from ingestion.fetch import Fetcher, FetchLimits
from ingestion.guarded_transport import GuardedTransport
from ingestion.parsers.sandbox import ParseLimits, ParserProcess
from ingestion.parts import PartRules
from ingestion.reading import FileParser
from ingestion.records import BuildRecords
from ingestion.rules import Chunker
from ingestion.settings import IngestionSettings
from ingestion.summaries import SummaryLimits, SummaryTools
from ingestion.summary_cache import SqliteSummaryCache
from ingestion.summary_model import ChatSummaryModel
from retrieval.catalog import Catalog
from retrieval.embedding import DenseEmbedder
from retrieval.late import LateEmbedder
from retrieval.opening import open_catalog, open_embedder, open_profile, open_vectors
from retrieval.opening_models import open_late_embedder, open_sparse_encoder
from retrieval.remote import RemoteCaller
from retrieval.sparse import SparseEncoder
from retrieval.vectors import VectorCache


@dataclass(frozen=True, slots=True)
class IngestionTools:
    """What a run works with.

    Attributes:
        parser: Reads files, in a process of its own unless a test says otherwise.
        summaries: Writes sentences for headers; None when that is off.
    """

    parser: FileParser
    fetcher: Fetcher

    embedder: DenseEmbedder
    chunker: Chunker
    sparse: SparseEncoder
    late: LateEmbedder | None
    catalog: Catalog
    vectors: VectorCache
    records: BuildRecords
    summaries: SummaryTools | None = None

    async def close(self) -> None:
        """Release files, connections and the parser's process."""
        self.parser.close()
        self.fetcher.close()
        self.vectors.close()
        if self.summaries is not None:
            self.summaries.close()
        await self.catalog.close()


def open_tools(settings: IngestionSettings) -> IngestionTools:
    """Load the model and open the stores; takes a second and blocks.

    Raises:
        ModelUnavailableError: The embedding model is not on this machine.
        IndexUnavailableError: The index cannot be opened.
    """
    embedder = open_embedder(settings)
    return IngestionTools(
        parser=ParserProcess(ParseLimits(settings.parse_seconds)),
        fetcher=open_fetcher(settings),
        embedder=embedder,
        chunker=open_chunker(settings, embedder),
        sparse=open_sparse_encoder(settings),
        late=open_late_embedder(settings),
        catalog=open_catalog(settings),
        vectors=open_vectors(settings),
        records=BuildRecords(settings.records_dir),
        summaries=open_summaries(settings),
    )


def open_summaries(settings: IngestionSettings) -> SummaryTools | None:
    """Return what writes sentences about documents; None when no endpoint is named.

    Raises:
        IngestionError: The file of known sentences cannot be used.
    """
    if not settings.summary_url:
        return None
    caller = RemoteCaller(
        settings.summary_url,
        timeout_seconds=settings.summary_seconds,
        api_key=settings.summary_api_key.get_secret_value(),
        task="summarise",
    )
    return SummaryTools(
        ChatSummaryModel(settings.summary_model, caller),
        SqliteSummaryCache(settings.summaries_path),
        SummaryLimits(
            documents=settings.summary_most_documents,
            tokens=settings.summary_most_tokens,
            input_characters=settings.summary_input_characters,
        ),
    )


def open_fetcher(settings: IngestionSettings) -> Fetcher:
    """Return what reads addresses, private ones out of its reach."""
    limits = FetchLimits(
        seconds=settings.fetch_seconds,
        most_bytes=settings.ingest_max_bytes,
        most_pages=settings.fetch_most_pages,
        site_seconds=settings.fetch_site_seconds,
    )
    transport = GuardedTransport(
        allowed_hosts=settings.allowed_hosts, private_hosts=settings.private_hosts
    )
    return Fetcher(limits, transport)


def open_chunker(settings: IngestionSettings, embedder: DenseEmbedder) -> Chunker:
    """Return what cuts documents, sized for the embedding model: settings win over the profile."""
    wanted = open_profile(settings).ingestion.chunker
    overlap = settings.chunk_overlap_tokens
    overlap = wanted.overlap_tokens if overlap < 0 else overlap
    return make_chunker(
        settings.chunker or wanted.name,
        embedder,
        input_limit_tokens=embedder.spec.input_limit_tokens,
        target_tokens=settings.chunk_target_tokens or wanted.target_tokens,
        overlap_tokens=None if overlap < 0 else overlap,
        parts=part_rules(settings),
    )


def part_rules(settings: IngestionSettings) -> PartRules | None:
    """Return the sizes of parts in these settings' profile; None when it makes none."""
    wanted = open_profile(settings).ingestion.parts
    return PartRules(wanted.target_tokens, wanted.overlap_tokens) if wanted else None
