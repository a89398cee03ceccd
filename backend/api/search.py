"""``POST /api/v1/retrieval/search``: the very search that guard and agent make, stage by stage."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, JsonValue, StringConstraints

from backend.api.ask import CallerHere, ServicesHere
from backend.api.examples import SEARCH_EXAMPLES, problem_responses
from backend.contract import PlainText, QuestionText
from backend.door import direct_claims
from knowledge.contracts import Explanation, SearchResult, StageOrder

router = APIRouter(prefix="/api/v1/retrieval", tags=["search"])

Name = Annotated[PlainText, StringConstraints(max_length=100)]


class SearchBody(BaseModel):
    """A search. Unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    query: QuestionText
    profile: Name = Field(
        default="",
        validation_alias=AliasChoices("profile", "profile_name"),
        description="Retrieval profile; empty: the one that answers questions, `default` unless "
        "the tool server is told otherwise.",
    )
    filters: dict[str, JsonValue] | None = Field(
        default=None,
        max_length=16,
        description="Field to a value, a list of values, or bounds {gte, lte}. Fields: source, "
        "heading, language, updated_at, metadata.NAME.",
    )
    top_n: int = Field(default=5, ge=1, le=50, strict=True, description="Passages wanted.")
    explain: Name | None = Field(
        default=None, description="Id of a chunk: say why it is among the hits, or is not."
    )


class SearchReply(SearchResult):
    """The passages with every number, the order after each stage, and what was asked about one."""

    stages: StageOrder
    explanation: Explanation | None = None


@router.post("/search", responses=problem_responses(401, 403, 413, 422, 503))
async def search(
    services: ServicesHere,
    caller: CallerHere,
    body: Annotated[SearchBody, Body(openapi_examples=SEARCH_EXAMPLES)],
) -> SearchReply:
    """Search the documentation: same query, same passages and numbers as in an ask."""
    trace = await services.knowledge.trace(
        body.query,
        direct_claims(caller),
        top_k=body.top_n,
        profile=body.profile,
        filters=body.filters,
        explain=body.explain or "",
    )
    return SearchReply(**dict(trace.result), stages=trace.stages, explanation=trace.explanation)
