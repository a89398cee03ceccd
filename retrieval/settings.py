"""Settings of every process that opens the index."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr

from service.settings import ServiceSettings


class RetrievalSettings(ServiceSettings):
    """Where the index is, which model reads it, and how long old builds stay open."""

    collection: str = Field(
        default="docs",
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$",
        description="Name of the collection of builds.",
    )
    qdrant_url: str = Field(
        default="",
        validation_alias="QDRANT_URL",
        description="Qdrant server or cluster; empty: the embedded index.",
    )
    qdrant_api_key: SecretStr = Field(
        default=SecretStr(""), validation_alias="QDRANT_API_KEY", description="Its key."
    )
    qdrant_timeout_seconds: int = Field(
        default=3, ge=1, le=600, description="Deadline of one call to the Qdrant server."
    )
    qdrant_grpc: bool = Field(
        default=False, description="Speak gRPC to the Qdrant server where its client can."
    )
    qdrant_grpc_port: int = Field(
        default=6334, ge=1, le=65535, description="Port of the Qdrant server for gRPC."
    )
    embedding_device: Literal["cpu", "cuda"] = Field(
        default="cpu",
        description="Where the dense model runs; cuda: with a runtime made for it.",
    )
    embedding_model: str = Field(
        default="",
        description="Model directory, packaged model or fastembed name; empty: the profile's.",
    )
    embedding_threads: int = Field(
        default=1, ge=1, le=64, description="Threads of one ONNX session."
    )
    embedding_url: str = Field(
        default="", description="Embedding service to use in place of models here; empty: none."
    )
    dense_url: str = Field(
        default="",
        description="Of dense vectors alone; ending in /v1: OpenAI-compatible; empty: the former.",
    )
    sparse_url: str = Field(
        default="",
        description="Of learned sparse vectors alone, likewise; BM25 needs no service.",
    )
    late_url: str = Field(
        default="", description="Of late-interaction vectors alone; empty: the embedding service."
    )
    reranker_url: str = Field(
        default="", description="Of reranking alone, before the profile's; empty: the service."
    )
    dense_api_key: SecretStr = Field(
        default=SecretStr(""), description="Key of the service of dense vectors, if it wants one."
    )
    embedding_timeout_seconds: float = Field(
        default=30.0, gt=0, le=600, description="Deadline of one call to it, retries included."
    )
    query_cache_size: int = Field(
        default=2048, ge=0, le=1_000_000, description="Query vectors kept in memory."
    )
    profile: str = Field(default="default", description="Profile of ingestion and search.")
    profiles_file: Path | None = Field(
        default=None, description="YAML file of profiles; unset: the packaged one."
    )
    build_check_seconds: float = Field(
        default=0.5, ge=0.0, le=3600.0, description="How often the build pointer is looked at."
    )
    build_keep_seconds: float = Field(
        default=30.0,
        ge=0.0,
        le=3600.0,
        description="How long a replaced build stays open for asks pinned to it.",
    )

    @property
    def environment(self) -> Mapping[str, str]:
        """Values that a file of profiles may refer to."""
        return os.environ

    @property
    def uses_embedding_service(self) -> bool:
        """Whether vectors of any kind come from another machine."""
        return bool(self.embedding_url or self.dense_url or self.sparse_url or self.late_url)

    @property
    def models_dir(self) -> Path:
        """Where packaged models are assembled."""
        return self.data_dir / "models"

    @property
    def vectors_path(self) -> Path:
        """The side store of vectors."""
        return self.data_dir / "vectors.db"
