"""``POST /api/v1/retrieval/search``: the very search that guard and agent make."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body
from pydantic import BaseModel, ConfigDict, Field

from backend.api_ask import CallerHere, ServicesHere
from backend.api_examples import SEARCH_EXAMPLES, problem_responses
from backend.contract import QuestionText, SourceName
from backend.door import direct_claims
from knowledge.contracts import SearchResult

router = APIRouter(prefix="/api/v1/retrieval", tags=["search"])


class SearchBody(BaseModel):
    """A search. Unknown fields are refused; ``source`` null or empty means every source."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    query: QuestionText
    top_k: Annotated[int, Field(ge=1, le=50, strict=True)] = 4
    source: SourceName | None = None


@router.post("/search", responses=problem_responses(403, 413, 422, 503))
async def search(
    services: ServicesHere,
    caller: CallerHere,
    body: Annotated[SearchBody, Body(openapi_examples=SEARCH_EXAMPLES)],
) -> SearchResult:
    """Search the documentation: same query, same passages and numbers as in an ask."""
    source = body.source or ""
    tools = services.knowledge.bind(direct_claims(caller), source=source, top_k=body.top_k)
    return await tools.search_kb(body.query, body.top_k, source)
