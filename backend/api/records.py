"""``/api/v1/admin/records``: recorded questions are deleted, with everything that hangs on them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, ConfigDict, Field

from backend.api.ask import ServicesHere
from backend.api.examples import problem_responses

router = APIRouter(
    prefix="/api/v1/admin/records",
    tags=["records"],
    responses=problem_responses(401, 403, 422, 429, 503),
)

AskId = Annotated[str, Path(pattern=r"^[A-Za-z0-9-]{1,64}$", description="Id of the ask.")]
CallerName = Annotated[
    str,
    Query(
        pattern=r"^(key-[A-Za-z0-9]{1,64}|anonymous|admin)$",
        description="Whose records: `key-ID`, `anonymous` or `admin`.",
    ),
]


class Deleted(BaseModel):
    """How many records are gone."""

    model_config = ConfigDict(frozen=True)

    deleted: int = Field(ge=0)


@router.delete("/{ask_id}", responses=problem_responses(404))
async def delete_record(ask_id: AskId, services: ServicesHere) -> Deleted:
    """Delete one record with its feedback, its label and its audit."""
    await services.erasure.erase_one(ask_id)
    return Deleted(deleted=1)


@router.delete("")
async def delete_records(caller: CallerName, services: ServicesHere) -> Deleted:
    """Delete every record of a caller, its feedback and its own tool calls."""
    return Deleted(deleted=await services.erasure.erase_caller(caller))
