"""What is embedded of each passage, whole and in parts, and its vectors put together again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from retrieval.chunk import Chunk, DenseVector, Matrix


@dataclass(frozen=True, slots=True)
class PassageVectors:
    """The vectors of one passage.

    Attributes:
        dense: Of the whole, shape (dimension,), float32, unit length.
        parts: Of its parts, shape (n_parts, dimension), float32, unit rows; None for a passage of
            one part.
    """

    dense: DenseVector
    parts: Matrix | None = None


def texts_to_embed(chunks: Sequence[Chunk]) -> list[str]:
    """Return each chunk's text, followed by those of its parts."""
    return [text for chunk in chunks for text in (chunk.text_for_embedding, *chunk.parts)]


def put_together(
    chunks: Sequence[Chunk], vectors: Sequence[DenseVector]
) -> list[tuple[Chunk, PassageVectors]]:
    """Return each chunk with its vectors.

    Args:
        chunks: In order.
        vectors: One for each text that ``texts_to_embed`` returns for them.
    """
    rest = iter(vectors)
    return [
        (chunk, PassageVectors(next(rest), _stacked(list(islice(rest, len(chunk.parts))))))
        for chunk in chunks
    ]


def _stacked(parts: Sequence[DenseVector]) -> Matrix | None:
    return np.stack(parts) if parts else None
