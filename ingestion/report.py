"""What a run tells: while it runs, and when it is done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ingestion.summaries import SummaryReport

Stage = Literal["reading", "embedding", "writing", "verifying", "published"]


@dataclass(frozen=True, slots=True)
class ProgressEvent:
    """Where a run is.

    Attributes:
        done: Documents while reading, else chunks.
        total: Of the same; 0 while it is not known.
        per_second: Documents or chunks a second in this stage so far.
        seconds_left: Of this stage; None while it cannot be told.
        detail: The document or build at hand.
    """

    stage: Stage
    done: int
    total: int
    per_second: float = 0.0
    seconds_left: float | None = None
    detail: str = ""


Progress = Callable[[ProgressEvent], None]
DocumentState = Literal["new", "changed", "unchanged", "carried_over", "same_page", "unreadable"]


class DocumentReport(BaseModel):
    """What became of one document."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str
    document_id: str
    state: DocumentState
    chunks: int = Field(ge=0)
    duplicates: int = Field(ge=0, description="Chunks whose text already stood elsewhere.")
    repeated_lines: int = Field(default=0, ge=0, description="Left out of what is embedded.")
    dropped: dict[str, int] = Field(default_factory=dict, description="By kind of markup.")
    reason: str = Field(default="", description="Why it is not in the index; empty when it is.")


class IngestReport(BaseModel):
    """One complete run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    build: str
    seconds: float = Field(ge=0)
    documents: tuple[DocumentReport, ...]
    vanished: tuple[str, ...] = Field(default=(), description="``source/document`` now gone.")
    chunks: int = Field(ge=1, description="Places where a passage stands, duplicates counted.")
    duplicates: int = Field(ge=0)
    points_written: int = Field(ge=0, description="0 when nothing changed and no build was made.")
    embedded: int = Field(ge=0, description="Passages that went through the model.")
    summaries: SummaryReport | None = Field(
        default=None, description="What a model's sentences cost; null when there are none."
    )

    @property
    def unreadable(self) -> tuple[DocumentReport, ...]:
        """Files that could not be read, each with its reason."""
        return tuple(d for d in self.documents if d.state == "unreadable")
