"""What travels when the evidence of an ask is packed for a model."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from knowledge.contracts import FilteredHit, Wire

PackingStage = Literal["search", "deduplicate", "compress"]


class Stretch(Wire):
    """Characters [start, end) of a stored passage."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)


class FittedPassage(Wire):
    """What of one passage stays."""

    chunk_id: str
    text: str = Field(description="Empty when nothing of it stays.")
    kept: tuple[Stretch, ...] = Field(description="Where what stays stands in the passage.")


class StageEntry(Wire):
    """What one stage of packing let through, and what it saved."""

    stage: PackingStage
    passages: int = Field(ge=0)
    tokens: int = Field(ge=0, description="Of the embedding model.")
    saved_tokens: int = Field(ge=0)
    dropped: tuple[str, ...] = Field(default=(), description="Chunk ids that did not come out.")


class FittedPassages(Wire):
    """Result of the service tool ``fit_evidence``; every passage asked for is in it, in order."""

    passages: tuple[FittedPassage, ...]
    repeats: tuple[FilteredHit, ...] = Field(
        default=(), description="Passages left out, with what they repeat."
    )
    stages: tuple[StageEntry, ...]
    origin_tokens: int = Field(ge=0)
    tokens: int = Field(ge=0)
    build: str
