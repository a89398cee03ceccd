"""Bodies of the embedding service, for the service and for whoever calls it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

MOST_TEXTS = 64
_LONGEST_TEXT = 100_000


class _Body(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class EmbedRequest(_Body):
    """Texts to embed."""

    texts: tuple[str, ...] = Field(min_length=1, max_length=MOST_TEXTS)
    kind: Literal["query", "passage"] = "passage"
    model: str = Field(default="", max_length=500, description="Refused when it is another one.")


class RerankRequest(_Body):
    """Passages to judge against a query."""

    query: str = Field(min_length=1, max_length=_LONGEST_TEXT)
    texts: tuple[str, ...] = Field(min_length=1, max_length=200)


class DenseReply(_Body):
    """Unit vectors, one a text."""

    model: str
    dimension: int
    vectors: list[list[float]]


class SparseValues(_Body):
    """One sparse vector."""

    indices: tuple[int, ...]
    values: tuple[float, ...]


class SparseReply(_Body):
    """Sparse vectors, one a text."""

    model: str
    vectors: list[SparseValues]


class LateReply(_Body):
    """Matrices, one a text, a row for each token."""

    model: str
    dimension: int
    vectors: list[list[list[float]]]


class Judged(_Body):
    """One passage in the form common to rerank servers."""

    index: int
    relevance_score: float


class RerankReply(_Body):
    """One unbounded number a passage, larger is better."""

    logits: list[float]
    results: list[Judged] = Field(description="The same in the form common to rerank servers.")


class ModelReply(_Body):
    """What a caller must know of the dense model to cut texts for it and to stamp builds."""

    name: str
    dimension: int
    input_limit_tokens: int
    query_prefix: str
    passage_prefix: str
    default_threshold_cosine: float
    digest: str
    tokenizer: str = Field(description="The content of tokenizer.json.")


class SparseModelReply(_Body):
    """What a caller must know of the learned sparse model."""

    name: str
    saturation: float
    uses_idf: bool


class LateModelReply(_Body):
    """What a caller must know of the late-interaction model."""

    name: str
    dimension: int = Field(ge=1)


class ServiceHealth(_Body):
    """Which models are in memory."""

    status: Literal["ok"] = "ok"
    loaded: list[str]
    running: int
    waiting: int
