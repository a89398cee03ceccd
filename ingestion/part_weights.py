"""Weights of a passage's words, half by the whole and half by its parts.

A word counts for less in a long passage than in a short one, so that the one sentence that names
what is asked for is worth little among ten others. The weight of each word is therefore the mean of
two: that in the whole passage, and the largest in any of its parts. Both come from one encoder,
fitted to the length of either, and both are saturated at the same value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from retrieval.chunk import Chunk, SparseVector
from retrieval.sparse import SparseEncoder

PART_SHARE = 0.5
"""Of the weight that the best part gives, in [0, 1]; chosen on the dev halves of three sets."""


@dataclass(frozen=True, slots=True)
class PartWeights:
    """Encodes passages for one build.

    Attributes:
        whole: Fitted to whole passages.
        part: Fitted to their parts; None when there are none, or when the encoder is a model of
            its own, which weighs words by what they mean there.
    """

    whole: SparseEncoder
    part: SparseEncoder | None

    @classmethod
    def fitted(cls, sparse: SparseEncoder, chunks: Sequence[Chunk]) -> PartWeights:
        """Return what suits these chunks, all of one build."""
        whole = sparse.fitted(chunk.text_for_embedding for chunk in chunks)
        if not sparse.uses_idf or not any(chunk.parts for chunk in chunks):
            return cls(whole, None)
        return cls(whole, sparse.fitted(text for chunk in chunks for text in _parts(chunk)))

    def embed(self, chunk: Chunk) -> SparseVector:
        """Return the weights of a passage's words."""
        whole = self.whole.embed_document(chunk.text_for_embedding)
        if self.part is None:
            return whole
        return mean_with_best(whole, [self.part.embed_document(text) for text in _parts(chunk)])


def mean_with_best(whole: SparseVector, parts: Sequence[SparseVector]) -> SparseVector:
    """Return the mean of a passage's weights and of each word's best among the parts.

    Args:
        whole: Of the passage.
        parts: Of its parts, at least one.
    """
    best: dict[int, float] = {}
    for part in parts:
        for term, weight in zip(part.indices, part.values, strict=True):
            best[term] = max(weight, best.get(term, 0.0))
    own = dict(zip(whole.indices, whole.values, strict=True))
    terms = (*whole.indices, *(term for term in best if term not in own))
    return SparseVector(
        terms,
        tuple(
            (1.0 - PART_SHARE) * own.get(term, 0.0) + PART_SHARE * best.get(term, 0.0)
            for term in terms
        ),
    )


def _parts(chunk: Chunk) -> tuple[str, ...]:
    return chunk.parts or (chunk.text_for_embedding,)
