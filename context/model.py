"""What the context tools need of the embedding model, and how near texts are to a purpose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from context.tokens import TokenCounter
from retrieval.chunk import DenseVector

_MEASURED_TOKENS = 1000


class TextModel(Protocol):
    """The index's own model. Every method raises ``RetrievalError``."""

    @property
    def tokenizer(self) -> TokenCounter:
        """The model's tokenizer, by which all tokens are counted."""
        ...

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[DenseVector]:
        """Return the unit vector of each text."""
        ...

    async def embed_query(self, text: str) -> DenseVector:
        """Return the unit vector of a text as a query."""
        ...


async def closeness(model: TextModel, purpose: str, texts: Sequence[str]) -> list[float]:
    """Return the cosine of each text with a purpose, in [-1, 1].

    Of a very long text its first thousand tokens are measured.
    """
    heads = [_head(text, model.tokenizer) for text in texts]
    wanted = await model.embed_query(purpose)
    vectors = await model.embed_passages(heads)
    return [float(cosine) for cosine in np.stack(list(vectors)) @ wanted] if texts else []


def _head(text: str, tokens: TokenCounter) -> str:
    if len(text) <= _MEASURED_TOKENS:  # a token has at least one character
        return text
    spans = tokens.offsets(text)
    return text if len(spans) <= _MEASURED_TOKENS else text[: spans[_MEASURED_TOKENS - 1][1]]
