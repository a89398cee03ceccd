"""The evidence of one ask, packed: without repetitions, and within what its reader has room for.

The stages are those of ``pack_context``; only the passages are given here instead of searched for,
and their vectors are the stored ones, so that nothing is embedded unless something must be cut.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from context.compress import CompressRequest, compress
from context.contract import (
    CompressedPassage,
    Compression,
    Deduplication,
    FilteredText,
    FittedEvidence,
    Passage,
)
from context.deduplicate import Reference, deduplicate
from context.errors import BadInputError
from context.forcing import Rules
from context.ledger import Ledger
from context.model import TextModel, closeness
from retrieval.chunk import DenseVector
from retrieval.store import StoredPoint

SAME_COSINE = 0.9
"""At or above it two passages are the same, as among the hits of one search."""


@dataclass(frozen=True, slots=True)
class EvidenceRequest:
    """One packing.

    Attributes:
        query: What the passages are to answer.
        chunk_ids: The passages, best first.
        known_ids: What the reader has already; repetitions of it are left out.
        share: Share of the passages' tokens that may stay, in (0, 1].
        budget_tokens: Tokens that may stay; None: as the share says.
        threshold_cosine: Passages at or above it are the same, in (0, 1].
    """

    query: str
    chunk_ids: tuple[str, ...]
    known_ids: tuple[str, ...]
    share: float
    budget_tokens: int | None
    threshold_cosine: float


async def fit_evidence(
    request: EvidenceRequest, stored: Mapping[str, StoredPoint], model: TextModel
) -> FittedEvidence:
    """Leave out repetitions and shorten what is left to what a reader has room for.

    Args:
        request: Which passages, and how much may stay.
        stored: Every passage named, with its vector.
        model: Counts tokens, and measures sentences when something must be cut.

    Raises:
        BadInputError: The share or the threshold is out of (0, 1].
    """
    if not 0.0 < request.share <= 1.0:
        raise BadInputError(f"share is what may stay, in (0, 1], not {request.share}")
    passages = [(each, stored[each].chunk.text) for each in request.chunk_ids]
    ledger = Ledger(model.tokenizer)
    ledger.note("search", passages)
    origin = ledger.stages[0].tokens
    unique = await _unique(request, passages, stored)
    stays = [passages[at] for at in unique.selected_indices]
    ledger.note("deduplicate", stays)
    limit = int(origin * request.share)
    limit = max(1, min(limit, request.budget_tokens or limit))
    shortened: dict[str, CompressedPassage] = {}
    if stays:
        shortened = {each.id: each for each in (await _cut(request, stays, limit, model)).passages}
    ledger.note("compress", [(key, each.text) for key, each in shortened.items() if each.text])
    return FittedEvidence(
        passages=tuple(
            shortened.get(chunk_id) or _left_out(chunk_id, text, model)
            for chunk_id, text in passages
        ),
        filtered=tuple(_named(each, request.chunk_ids) for each in unique.filtered),
        ledger=tuple(ledger.stages),
        origin_tokens=origin,
        tokens=ledger.stages[-1].tokens,
    )


async def _unique(
    request: EvidenceRequest,
    passages: Sequence[tuple[str, str]],
    stored: Mapping[str, StoredPoint],
) -> Deduplication:
    by_text = {text: _vector(stored[chunk_id]) for chunk_id, text in passages}

    async def recall(texts: Sequence[str]) -> Sequence[DenseVector]:
        return [by_text[text] for text in texts]

    known = [stored[chunk_id] for chunk_id in request.known_ids]
    reference = Reference(
        request.known_ids,
        tuple(point.chunk.text for point in known),
        np.stack([_vector(point) for point in known]),
    ) if known else None  # fmt: skip
    return await deduplicate(
        [text for _, text in passages],
        recall,
        threshold_cosine=request.threshold_cosine,
        reference=reference,
    )


async def _cut(
    request: EvidenceRequest, stays: Sequence[tuple[str, str]], limit: int, model: TextModel
) -> Compression:
    return await compress(
        CompressRequest(
            passages=tuple(Passage(id=chunk_id, text=text) for chunk_id, text in stays),
            target_tokens=limit,
            ratio=1.0,
            purpose=request.query,
            rules=Rules(),
        ),
        model.tokenizer,
        partial(closeness, model),
        price_per_million_tokens=0.0,
    )


def _vector(point: StoredPoint) -> DenseVector:
    if point.dense is None:
        raise BadInputError(f"the passage {point.chunk.chunk_id} has no vector")
    return point.dense


def _left_out(chunk_id: str, text: str, model: TextModel) -> CompressedPassage:
    return CompressedPassage(
        id=chunk_id,
        text="",
        kept=(),
        origin_tokens=model.tokenizer.count(text),
        compressed_tokens=0,
    )


def _named(found: FilteredText, chunk_ids: Sequence[str]) -> FilteredText:
    match = found.duplicate_of
    name = chunk_ids[match] if isinstance(match, int) else match
    return found.model_copy(update={"duplicate_of": name})
