"""From the filters of a search request to the engine's conditions.

Which fields there are is the engine's to say; here a value becomes an equality, a list any-of, and
bounds a range.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, TypeAlias

from pydantic import Field

from retrieval.errors import BadRequestError
from retrieval.store import Condition, Filter, Range
from service.tokens import Claims

_MOST_CONDITIONS = 16
_MOST_CHOICES = 100
_BOUNDS = frozenset({"gte", "lte"})


Scalar: TypeAlias = str | int | float | bool
Wanted: TypeAlias = Scalar | list[Scalar] | dict[str, Scalar]
Given: TypeAlias = Wanted | dict[str, Wanted]
Filters: TypeAlias = Annotated[
    dict[str, Given],
    Field(
        max_length=_MOST_CONDITIONS,
        description="Field to a value, a list of values, or bounds {gte, lte}. Fields: source, "
        "heading, language, updated_at, metadata.NAME, or metadata with an object of names.",
    ),
]


def filter_of(filters: Mapping[str, Given], claims: Claims) -> Filter:
    """Return the engine's filter: nothing in it widens what the token lets through.

    Args:
        filters: As in the request.
        claims: Its source and labels hold beside every condition.

    Raises:
        BadRequestError: A form that means nothing.
    """
    source = claims.source
    fields: list[tuple[str, Condition]] = []
    for name, wanted in _flattened(filters):
        if name == "source" and isinstance(wanted, str) and not source:
            # The way search_kb asks for a source, so that both find the same.
            source = wanted
        else:
            fields.append((name, _condition(name, wanted)))
    return Filter(source=source, labels=claims.labels, fields=tuple(fields))


def _flattened(filters: Mapping[str, Given]) -> Iterator[tuple[str, Given]]:
    for name, wanted in filters.items():
        if name == "metadata" and isinstance(wanted, dict):
            yield from ((f"metadata.{inner}", value) for inner, value in wanted.items())
        else:
            yield name, wanted


def _condition(name: str, wanted: Given) -> Condition:
    if isinstance(wanted, dict):
        return _range(name, wanted)
    if isinstance(wanted, list):
        if not 1 <= len(wanted) <= _MOST_CHOICES:
            raise BadRequestError(f"{name[:80]!r} needs 1 to {_MOST_CHOICES} values")
        return tuple(wanted)
    return wanted


def _range(name: str, bounds: Mapping[str, Wanted]) -> Range:
    if not bounds or not bounds.keys() <= _BOUNDS:
        raise BadRequestError(f"{name[:80]!r} takes a value, a list, or bounds gte and lte")
    return Range(at_least=_bound(name, bounds.get("gte")), at_most=_bound(name, bounds.get("lte")))


def _bound(name: str, bound: Wanted | None) -> float | str | None:
    if isinstance(bound, bool | list | dict):
        raise BadRequestError(f"a bound of {name[:80]!r} is a number or a time")
    return bound
