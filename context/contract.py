"""What the context tools take and return, the same over both doors."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

Share = Annotated[float, Field(gt=0.0, le=1.0)]


class ContextModel(BaseModel):
    """Base of the context tools' models: frozen, and closed to unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Passage(ContextModel):
    """A passage with an id of the caller's own; its text comes back under the same id."""

    id: Annotated[str, Field(min_length=1, max_length=200)]
    text: Annotated[str, Field(max_length=200_000)]


class KeptSpan(ContextModel):
    """Characters [start, end) of a passage that were kept; everything else was cut away."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)


class CompressedPassage(ContextModel):
    """One passage after compression."""

    id: str
    text: str = Field(description="Empty when nothing of the passage was kept.")
    kept: tuple[KeptSpan, ...]
    origin_tokens: int = Field(ge=0)
    compressed_tokens: int = Field(ge=0)


class Compression(ContextModel):
    """Result of ``compress_context``."""

    text: str = Field(description="The passages' texts, separated by blank lines.")
    passages: tuple[CompressedPassage, ...]
    origin_tokens: int = Field(ge=0, description="Tokens of the input, joined as the output is.")
    compressed_tokens: int = Field(ge=0)
    ratio: float = Field(ge=0.0, description="origin / compressed; 1 when nothing was dropped.")
    rate: float = Field(ge=0.0, le=1.0, description="compressed / origin.")
    saving: float = Field(ge=0.0, description="Price of the tokens saved, in the set currency.")
    dropped_pieces: int = Field(ge=0, description="Sentences, rows and code blocks left out.")
    method: Literal["selection", "llmlingua-2"] = "selection"
    budget: Budget | None = None


class Budget(ContextModel):
    """What the caller has used and has left, in tokens and calls."""

    used_tokens: int = Field(ge=0)
    left_tokens: int = Field(ge=0)
    used_calls: int = Field(ge=0)
    left_calls: int = Field(ge=0)


class FilteredText(ContextModel):
    """A text left out as a repetition."""

    index: int = Field(ge=0, description="Place in the input, from 0.")
    text: str
    duplicate_of: int | str = Field(description="Place in the input, or chunk id of the build.")
    exact: bool
    cosine: float = Field(ge=-1.0, le=1.0, description="1 for an exact repetition.")


class Deduplication(ContextModel):
    """Result of ``deduplicate``: strings in, strings out."""

    selected: tuple[str, ...]
    selected_indices: tuple[int, ...]
    filtered: tuple[FilteredText, ...]
    embedded: int = Field(ge=0, description="Texts that went through the model.")
    budget: Budget | None = None


class Scope(ContextModel):
    """Whose memory it is; at least one of the three is given, blanks trimmed."""

    user_id: str = ""
    agent_id: str = ""
    run_id: str = ""


class Memory(ContextModel):
    """One remembered text."""

    memory_id: str
    content: str
    scope: Scope
    metadata: dict[str, JsonValue]
    created_at: str
    cosine: float | None = Field(default=None, ge=-1.0, le=1.0)
    rerank_logit: float | None = None


Compression.model_rebuild()
