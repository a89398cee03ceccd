"""From the filters of a search request to the engine's conditions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from retrieval.errors import BadRequestError
from retrieval.store import Condition, Filter, Range
from service.tokens import Claims

_MOST_CONDITIONS = 16
_MOST_CHOICES = 100
_FIELD_OF = {
    "heading": "section_heading",
    "section_heading": "section_heading",
    "language": "language",
    "updated_at": "updated_at",
}


class RangeFilter(BaseModel):
    """Bounds on a number or a UTC ISO 8601 time; at least one side."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    gte: float | str | None = None
    lte: float | str | None = None


FilterValue: TypeAlias = str | int | float | bool | list[str | int | float | bool] | RangeFilter
Filters: TypeAlias = Annotated[
    dict[str, FilterValue],
    Field(
        max_length=_MOST_CONDITIONS,
        description="Field to a value, a list of values, or bounds {gte, lte}. Fields: source, "
        "heading, language, updated_at, metadata.NAME.",
    ),
]


def filter_of(filters: Mapping[str, FilterValue], claims: Claims) -> Filter:
    """Return the engine's filter; the token's source and labels win over everything in it.

    Raises:
        BadRequestError: A field that cannot be filtered on, or a form that means nothing.
    """
    source = ""
    fields: list[tuple[str, Condition]] = []
    for name, wanted in filters.items():
        if name == "source" and isinstance(wanted, str):
            source = wanted
            continue
        fields.append((_field(name), _condition(name, wanted)))
    return Filter(source=claims.source or source, labels=claims.labels, fields=tuple(fields))


def _field(name: str) -> str:
    if name.startswith("metadata.") and name != "metadata.":
        return name
    if name not in _FIELD_OF:
        raise BadRequestError(f"there is no filter field {name[:80]!r}")
    return _FIELD_OF[name]


def _condition(name: str, wanted: FilterValue) -> Condition:
    if isinstance(wanted, RangeFilter):
        if wanted.gte is None and wanted.lte is None:
            raise BadRequestError(f"the range of {name!r} has no bound")
        return Range(at_least=wanted.gte, at_most=wanted.lte)
    if isinstance(wanted, list):
        if not 1 <= len(wanted) <= _MOST_CHOICES:
            raise BadRequestError(f"{name!r} needs 1 to {_MOST_CHOICES} values")
        return tuple(wanted)
    return wanted
