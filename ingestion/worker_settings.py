"""Settings of the worker process, read once at its entry point."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from ingestion.settings import IngestionSettings
from service.broker_settings import NAME_PATTERN, BrokerSettings


class WorkerSettings(IngestionSettings, BrokerSettings):
    """Where jobs are, how they are lent, and whether a broker stands between."""

    database_url: str = Field(default="", description="Empty: SQLite files in the data folder.")
    broker_ingestion_queue: str = Field(
        default="ingestion_q",
        pattern=NAME_PATTERN,
        description="Queue of the ingestion; what is put aside goes to the one ending in .dead.",
    )
    broker_prefetch: int = Field(
        default=4, ge=1, le=1000, description="Messages a worker holds without having ended them."
    )
    worker_tasks: int = Field(default=2, ge=1, le=64, description="Tasks a worker runs at once.")
    worker_poll_seconds: float = Field(
        default=0.5, gt=0, le=60, description="How often a worker without work looks for some."
    )
    worker_idle_seconds: float = Field(
        default=60.0, ge=0, description="A worker without work for so long frees its model."
    )
    worker_metrics_port: int = Field(
        default=0, ge=0, le=65535, description="Port of the worker's /metrics; 0: none."
    )
    worker_metrics_host: str = Field(
        default="127.0.0.1", description="Address the worker's /metrics is served on."
    )
    job_lease_seconds: float = Field(
        default=30.0, gt=0, le=3600, description="A worker silent for so long loses its task."
    )
    job_most_attempts: int = Field(
        default=5, ge=1, le=1000, description="After so many attempts a task is given up."
    )

    @property
    def uploads_dir(self) -> Path:
        """Where uploaded files are, a folder for each source."""
        return self.data_dir.resolve() / "uploads"

    @property
    def staging_dir(self) -> Path:
        """Where documents of running jobs are prepared."""
        return self.data_dir / "staging"

    @property
    def job_roots(self) -> tuple[Path, ...]:
        """Folders that jobs may read: those configured, and uploads."""
        return (*(root.resolve() for root in self.roots), self.uploads_dir)
