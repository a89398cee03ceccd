"""What ``GET /asks/{id}`` says of a question that is not answered, or not yet."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from backend.problems import Problem
from knowledge.contracts import Wire


class PendingAsk(Wire):
    """A question that waits or is being answered; sent with status 202."""

    schema_version: Literal["1"] = Field(default="1", alias="schema", serialization_alias="schema")
    id: str
    created_at: str
    question: str
    status: Literal["pending"] = "pending"
    state: Literal["queued", "running"]
    attempts: int = Field(ge=0, description="How often somebody began to answer it.")


class FailedAsk(Wire):
    """A question that could not be answered; sent with status 200, for it will not change."""

    schema_version: Literal["1"] = Field(default="1", alias="schema", serialization_alias="schema")
    id: str
    created_at: str
    failed_at: str
    question: str
    status: Literal["failed"] = "failed"
    problem: Problem = Field(description="What a direct ask would have been answered with.")
