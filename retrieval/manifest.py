"""What a build says of itself, and what a reader demands of it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Stamp(BaseModel):
    """What must match between the build and whoever reads or calibrates it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    embedding_model: str = Field(description="Name of the dense model.")
    model_digest: str = Field(description="sha256 of the model file, or name and revision.")
    dimension: int = Field(ge=1)
    query_prefix: str = ""
    passage_prefix: str = ""
    header_format: str = Field(description="Name and version of the contextual header.")
    chunker: str = Field(description="Name and parameters of the chunker.")
    sparse_model: str = Field(description="Name and parameters of the sparse encoder.")
    late_model: str = Field(default="", description="Late-interaction model; empty: none.")
    late_dimension: int = Field(default=0, ge=0)
    parts: str = Field(default="", description="How passages are cut into parts; empty: not.")


class Manifest(BaseModel):
    """One complete build.

    Attributes of note: ``sources`` maps a source to its number of chunks; ``content_digest`` is
    over sorted chunk ids, so equal content means an equal digest whatever the build's name.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    build: str = Field(description="Name, sortable by time: YYYYMMDDTHHMMSS-xxxxxx.")
    created_at: str = Field(description="UTC, ISO 8601.")
    profile: str
    stamp: Stamp
    chunks: int = Field(ge=1)
    documents: int = Field(ge=1)
    duplicates: int = Field(ge=0)
    sources: dict[str, int]
    content_digest: str
    sketch: tuple[int, ...] = Field(
        default=(), description="Smallest hashes of the chunk ids, to compare builds by."
    )
