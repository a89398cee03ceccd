"""What the context tools take and return, the same over both doors."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

StageName = Literal["search", "rerank", "deduplicate", "compress"]


class ContextModel(BaseModel):
    """Base of the context tools' models: frozen, and closed to unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Spending(ContextModel):
    """Tokens and calls of an account."""

    tokens: int = Field(ge=0)
    calls: int = Field(ge=0)


class Budget(ContextModel):
    """What a call took, and what its caller or its run, whichever is nearer to its end, has left.

    Tokens are those of the embedding model.
    """

    tokens_in: int = Field(ge=0, description="Tokens of the texts given.")
    tokens_out: int = Field(ge=0, description="Tokens of the texts returned.")
    used: Spending
    left: Spending


class ContextResult(ContextModel):
    """What a context tool returns; the budget is filled in when the call is charged."""

    budget: Budget | None = None


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


class Compression(ContextResult):
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


class FilteredText(ContextModel):
    """A text left out as a repetition."""

    index: int = Field(ge=0, description="Place in the input, from 0.")
    text: str
    duplicate_of: int | str = Field(description="Place in the input, or chunk id of the build.")
    exact: bool
    cosine: float = Field(ge=-1.0, le=1.0, description="1 for an exact repetition.")


class Deduplication(ContextResult):
    """Result of ``deduplicate``: strings in, strings out."""

    selected: tuple[str, ...]
    selected_indices: tuple[int, ...]
    filtered: tuple[FilteredText, ...]
    embedded: int = Field(ge=0, description="Texts that went through the model.")


class Stage(ContextModel):
    """What one stage of packing kept, and what it saved."""

    stage: StageName
    passages: int = Field(ge=0, description="Passages that came out of the stage.")
    tokens: int = Field(ge=0, description="Their tokens, joined.")
    dropped: tuple[str, ...] = Field(description="Chunk ids that went in and did not come out.")
    saved_tokens: int = Field(ge=0)
    note: str = Field(default="", description="Why a stage did nothing.")


class PackedPassage(ContextModel):
    """One passage of a pack."""

    number: int = Field(ge=1, description="Its place in the pack, from 1.")
    chunk_id: str
    source_url: str
    title: str
    section_heading: str
    cosine: float = Field(ge=-1.0, le=1.0, description="Of the whole passage with the query.")
    text: str
    kept: tuple[KeptSpan, ...] = Field(description="What of the stored passage is in the text.")


class Pack(ContextResult):
    """Result of ``pack_context``."""

    query: str
    passages: tuple[PackedPassage, ...]
    text: str = Field(description="The passages' texts, separated by blank lines.")
    tokens: int = Field(ge=0)
    budget_tokens: int = Field(ge=1)
    ledger: tuple[Stage, ...]
    filtered: tuple[FilteredText, ...] = Field(description="Repetitions, with what they repeat.")
    build: str
    degraded: tuple[str, ...] = ()
    saving: float = Field(ge=0.0, description="Price of the tokens saved, in the set currency.")


class FittedEvidence(ContextModel):
    """Given passages without repetitions, within a number of tokens.

    Nothing is kept of a passage that was left out; it stays in the list all the same.
    """

    passages: tuple[CompressedPassage, ...]
    filtered: tuple[FilteredText, ...] = Field(description="Repetitions, with what they repeat.")
    ledger: tuple[Stage, ...]
    origin_tokens: int = Field(ge=0, description="Tokens of the passages given, joined.")
    tokens: int = Field(ge=0, description="Tokens of what stays, joined.")
