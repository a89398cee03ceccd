"""Named ways to search: how many candidates, how they are fused, what is left out."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from retrieval.fusion import FusionName


class SearchProfile(BaseModel):
    """How a query is answered from a build."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    candidates: int = Field(default=50, ge=1, le=1000, description="Most of each list.")
    fusion: FusionName = Field(default="zscore", description="What orders the candidates.")
    dense_weight: float = Field(default=0.5, ge=0.0, le=1.0)
    sparse_weight: float = Field(default=0.5, ge=0.0, le=1.0)
    rrf_k: int = Field(default=60, ge=1, le=1000)
    dense_floor_cosine: float | None = Field(
        default=None, ge=-1.0, le=1.0, description="Below it a dense candidate is not fused."
    )
    sparse_floor_bm25: float | None = Field(
        default=None, ge=0.0, description="Below it a sparse candidate is not fused."
    )
    near_duplicate_cosine: float = Field(
        default=0.9, ge=0.0, le=2.0, description="Hits at or above it repeat each other; 2: off."
    )
    source_cap: int = Field(default=0, ge=0, le=50, description="Hits of one source; 0: no cap.")
