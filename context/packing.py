"""``pack_context``: the passages that answer, without repetition, within a number of tokens.

Reranking is the search's own stage, by its profile; the ledger says whether it took place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from context.compress import NOTHING, CompressRequest, compress
from context.contract import (
    CompressedPassage,
    Compression,
    Deduplication,
    Pack,
    PackedPassage,
    Passage,
)
from context.deduplicate import deduplicate
from context.errors import BadInputError
from context.forcing import Rules
from context.ledger import Ledger
from context.model import TextModel, closeness
from retrieval.search import Hit, SearchOutcome, SearchRequest
from retrieval.store import Filter


class Library(TextModel, Protocol):
    """The index with its model."""

    async def search(self, request: SearchRequest) -> SearchOutcome:
        """Search, with the numbers of every stage."""
        ...


@dataclass(frozen=True, slots=True)
class PackRequest:
    """One pack.

    Attributes:
        budget_tokens: Tokens the pack may have.
        candidates: Passages to search for, 1 to 50.
        threshold_cosine: Passages at or above it are the same, in (0, 1].
        where: What the caller may see.
        build: Build to search; empty means the one in force.
        rules: What must survive.
    """

    query: str
    budget_tokens: int
    candidates: int
    threshold_cosine: float
    where: Filter
    build: str = ""
    rules: Rules = field(default_factory=Rules)


async def pack(
    request: PackRequest,
    library: Library,
    *,
    price_per_million_tokens: float,
) -> Pack:
    """Search, deduplicate, rerank and compress, with the ledger of each stage.

    Raises:
        BadInputError: The budget is below one token, or the threshold out of (0, 1].
        DoesNotFitError: What must survive is larger than the budget.
        RetrievalError: The index cannot be searched.
    """
    if request.budget_tokens < 1:
        raise BadInputError("budget_tokens is at least 1")
    outcome = await library.search(
        SearchRequest(request.query, request.candidates, request.where, request.build)
    )
    ledger = Ledger(library.tokenizer)
    hits = list(outcome.hits)
    ledger.note("search", _texts(hits))
    ledger.note("rerank", _texts(hits), _reranking(outcome))
    unique = await deduplicate(
        [hit.chunk.text for hit in hits],
        library.embed_passages,
        threshold_cosine=request.threshold_cosine,
    )
    hits = [hits[at] for at in unique.selected_indices]
    ledger.note("deduplicate", _texts(hits))
    compression = await _compressed(request, hits, library)
    kept = [pair for pair in zip(hits, compression.passages, strict=True) if pair[1].text]
    ledger.note("compress", [(passage.id, passage.text) for _, passage in kept])
    packed = _packed(request, outcome, unique, kept, compression)
    saved = ledger.stages[0].tokens - packed.tokens
    saving = saved * price_per_million_tokens / 1_000_000
    return packed.model_copy(update={"ledger": tuple(ledger.stages), "saving": saving})


def _texts(hits: Sequence[Hit]) -> list[tuple[str, str]]:
    return [(hit.chunk.chunk_id, hit.chunk.text) for hit in hits]


async def _compressed(request: PackRequest, hits: Sequence[Hit], library: Library) -> Compression:
    if not hits:
        return NOTHING
    return await compress(
        CompressRequest(
            passages=tuple(Passage(id=hit.chunk.chunk_id, text=hit.chunk.text) for hit in hits),
            target_tokens=request.budget_tokens,
            ratio=1.0,
            purpose=request.query,
            rules=request.rules,
        ),
        library.tokenizer,
        partial(closeness, library),
        price_per_million_tokens=0.0,
    )


def _packed(
    request: PackRequest,
    outcome: SearchOutcome,
    unique: Deduplication,
    kept: Sequence[tuple[Hit, CompressedPassage]],
    compression: Compression,
) -> Pack:
    return Pack(
        query=request.query,
        passages=tuple(
            PackedPassage(
                number=number,
                chunk_id=hit.chunk.chunk_id,
                source_url=hit.occurrence.source_url,
                title=hit.occurrence.title,
                section_heading=hit.occurrence.section_heading,
                cosine=max(-1.0, min(1.0, hit.cosine)),
                text=passage.text,
                kept=passage.kept,
            )
            for number, (hit, passage) in enumerate(kept, start=1)
        ),
        text=compression.text,
        tokens=compression.compressed_tokens,
        budget_tokens=request.budget_tokens,
        ledger=(),
        filtered=tuple(
            item.model_copy(update={"duplicate_of": _name(item.duplicate_of, outcome)})
            for item in unique.filtered
        ),
        build=outcome.manifest.build,
        degraded=tuple(outcome.degraded),
        saving=0.0,
    )


def _reranking(outcome: SearchOutcome) -> str:
    if "rerank_failed" in outcome.degraded:
        return "the reranker failed; the order of the search stands"
    return "" if outcome.trace.reranked else "the profile has no reranker"


def _name(match: int | str, outcome: SearchOutcome) -> str:
    return outcome.hits[match].chunk.chunk_id if isinstance(match, int) else match
