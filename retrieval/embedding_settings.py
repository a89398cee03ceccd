"""Settings of the embedding service, read once at its entry."""

from __future__ import annotations

from pydantic import Field

from retrieval.settings import RetrievalSettings


class EmbeddingServiceSettings(RetrievalSettings):
    """Where the service listens and how much it takes at once."""

    embeddings_host: str = Field(default="127.0.0.1", description="Address to listen on.")
    embeddings_port: int = Field(
        default=8002, ge=0, le=65535, description="Port of the embedding service."
    )
    embeddings_running: int = Field(
        default=2, ge=1, le=256, description="Calls the service works on at once."
    )
    embeddings_waiting: int = Field(
        default=32, ge=0, le=10_000, description="Calls that wait for a place; the rest get 503."
    )
    embeddings_most_characters: int = Field(
        default=400_000, ge=1000, description="Longest call, all texts together."
    )
