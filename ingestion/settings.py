"""Settings of the ingestion, read once at its entry point."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr

from retrieval.settings import RetrievalSettings


class IngestionSettings(RetrievalSettings):
    """How documents are cut, embedded and fetched; where builds go comes from the retrieval."""

    chunker: Literal["", "structural", "sentence", "semantic", "recursive"] = Field(
        default="", description="How documents are cut; empty: the profile's way."
    )
    chunk_target_tokens: int = Field(
        default=0, ge=0, le=8192, description="Body of a chunk; 0: the profile's or the chunker's."
    )
    chunk_overlap_tokens: int = Field(
        default=-1, ge=-1, le=2048, description="Repeated at a cut; -1: the profile's."
    )
    ingest_workers: int = Field(
        default=2, ge=1, le=64, description="Threads that run the embedding model at once."
    )
    ingest_max_bytes: int = Field(
        default=32_000_000, ge=1, description="Largest file or page that is read."
    )
    fetch_seconds: float = Field(
        default=20.0, gt=0, le=600, description="Deadline of one fetched address."
    )
    fetch_most_pages: int = Field(
        default=1000, ge=1, le=100_000, description="Pages of one sitemap or llms.txt."
    )
    fetch_site_seconds: float = Field(
        default=1800.0, gt=0, description="Deadline of all pages of a sitemap or llms.txt."
    )
    fetch_allowed_hosts: str = Field(
        default="", description="Hosts that may be read, comma separated; empty: all public ones."
    )
    fetch_private_hosts: str = Field(
        default="", description="Hosts that may be private, comma separated; empty: none."
    )
    ingest_roots: str = Field(
        default="", description="Folders that paths must be in, comma separated; empty: any."
    )
    parse_seconds: float = Field(
        default=60.0, gt=0, le=3600, description="Deadline of the parser for one file."
    )
    ingest_most_vanished_share: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Share of a source's documents that may be gone at once; more fails the run.",
    )
    keep_builds: int = Field(
        default=3, ge=1, le=1000, description="Complete builds kept for rollback."
    )

    summary_url: str = Field(
        default="",
        description="OpenAI-compatible endpoint that describes documents for headers; empty: off.",
    )
    summary_model: str = Field(
        default="gpt-4.1-mini", min_length=1, description="Model that describes documents."
    )
    summary_api_key: SecretStr = Field(
        default=SecretStr(""), description="Key of that endpoint, if it wants one."
    )
    summary_seconds: float = Field(
        default=30.0, gt=0, le=600, description="Deadline of one description, retries included."
    )
    summary_most_documents: int = Field(
        default=500, ge=0, le=1_000_000, description="Documents described in one run at most."
    )
    summary_most_tokens: int = Field(
        default=500_000, ge=0, description="Tokens that descriptions may cost in one run."
    )
    summary_input_characters: int = Field(
        default=6000, ge=200, le=1_000_000, description="Of a document, shown to that model."
    )

    @property
    def summaries_path(self) -> Path:
        """Sentences about documents, kept for later runs."""
        return self.data_dir / "summaries.db"

    @property
    def roots(self) -> tuple[Path, ...]:
        """Folders that paths must be in."""
        return tuple(Path(root).expanduser() for root in _listed(self.ingest_roots))

    @property
    def allowed_hosts(self) -> tuple[str, ...]:
        """Hosts that may be read; empty means all public ones."""
        return _listed(self.fetch_allowed_hosts)

    @property
    def private_hosts(self) -> tuple[str, ...]:
        """Hosts that may be private."""
        return _listed(self.fetch_private_hosts)

    @property
    def records_dir(self) -> Path:
        """What each build was made from."""
        return self.data_dir / "records" / self.collection

    @property
    def lock_path(self) -> Path:
        """Held while a run writes to the collection."""
        return self.data_dir / "records" / f"{self.collection}.lock"


def _listed(value: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in value.split(",") if part.strip())
