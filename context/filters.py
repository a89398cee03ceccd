"""The filter language of memories, parsed into one tree that becomes one index filter.

A filter is an object. A field with a value is an equality, with a list any of its values, with null
that the field is missing; with an object of comparisons every one of them: ``eq``, ``ne``, ``gt``,
``gte``, ``lt``, ``lte``, ``in``, ``nin``. ``AND`` and ``OR`` take a list of filters, ``NOT`` a
filter or a list of which none may hold. Several keys of one object all hold. What a memory lacks
meets no comparison, and so every ``ne``, ``nin`` and ``NOT``. ``created_at`` compares with times.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from pydantic import JsonValue

from context.errors import BadFilterError
from context.facts import CREATED_AT, FIELD_NAME, Scalar, fact
from retrieval.memory import AllOf, AnyOf, Bounds, Fact, Not, Wanted

_DEEPEST = 8
_MOST_CONDITIONS = 64
_LOGIC = ("AND", "OR", "NOT")


@dataclass(frozen=True, slots=True)
class FilterShape:
    """What telemetry keeps of a filter: its form and field names, never its values."""

    shape: str
    keys: tuple[str, ...]


def parse_filter(given: Mapping[str, JsonValue]) -> Wanted:
    """Return the tree of a filter; an empty one holds for everything.

    Raises:
        BadFilterError: The filter cannot be read; the message names the place.
    """
    if sum(1 for _ in _leaves(given, 0)) > _MOST_CONDITIONS:
        raise BadFilterError(f"a filter has at most {_MOST_CONDITIONS} conditions")
    return _object(given, "filter")


def describe_filter(given: Mapping[str, JsonValue]) -> FilterShape:
    """Return the form of a filter that can be read."""
    return FilterShape(_shape(given), tuple(sorted({name for name, _ in _leaves(given, 0)})))


def _object(given: JsonValue | Mapping[str, JsonValue], place: str) -> Wanted:
    if not isinstance(given, Mapping):
        raise BadFilterError(f"{place} is an object of fields, AND, OR and NOT")
    return _all([_entry(name, value, f"{place}.{name[:80]}") for name, value in given.items()])


def _entry(name: str, value: JsonValue, place: str) -> Wanted:
    if name == "NOT":
        parts = value if isinstance(value, list) else [value]
        held = [_object(part, f"{place}[{at}]") for at, part in enumerate(parts)]
        return Not(AnyOf(tuple(_listed(held, place))))
    if name in _LOGIC:
        if not isinstance(value, list):
            raise BadFilterError(f"{place} takes a list of filters")
        held = [_object(part, f"{place}[{at}]") for at, part in enumerate(value)]
        parts = _listed(held, place)
        return _all(parts) if name == "AND" else AnyOf(tuple(parts))
    if not FIELD_NAME.fullmatch(name):
        raise BadFilterError(f"{place} names no field: letters, digits and _ alone")
    return _field(name, value, place)


def _listed(parts: list[Wanted], place: str) -> list[Wanted]:
    if not parts:
        raise BadFilterError(f"{place} needs at least one filter")
    return parts


def _field(name: str, value: JsonValue, place: str) -> Wanted:
    if isinstance(value, dict):
        if not value:
            raise BadFilterError(f"{place} needs a comparison: {', '.join(_COMPARISONS)}")
        unknown = [each for each in value if each not in _COMPARISONS]
        if unknown:
            raise BadFilterError(
                f"{place} has no comparison {unknown[0][:40]!r}; known are "
                + ", ".join(_COMPARISONS)
            )
        return _all([_COMPARISONS[how](name, bound, place) for how, bound in value.items()])
    return _in(name, value, place) if isinstance(value, list) else _eq(name, value, place)


def _eq(name: str, value: JsonValue, place: str) -> Wanted:
    if name == CREATED_AT:
        moment = _number(name, value, place)
        return Bounds(name, at_least=moment, at_most=moment)
    if value is None:
        return Not(Fact((name,)))
    return Fact((fact(name, _scalar(value, place)),))


def _ne(name: str, value: JsonValue, place: str) -> Wanted:
    return Not(_eq(name, value, place))


def _in(name: str, value: JsonValue, place: str) -> Wanted:
    if not isinstance(value, list) or not value:
        raise BadFilterError(f"{place} takes a list of at least one value")
    if name == CREATED_AT:
        return AnyOf(tuple(_eq(name, each, place) for each in value))
    return Fact(tuple(fact(name, _scalar(each, place)) for each in value))


def _nin(name: str, value: JsonValue, place: str) -> Wanted:
    return Not(_in(name, value, place))


def _gt(name: str, value: JsonValue, place: str) -> Wanted:
    return Bounds(name, above=_number(name, value, place))


def _gte(name: str, value: JsonValue, place: str) -> Wanted:
    return Bounds(name, at_least=_number(name, value, place))


def _lt(name: str, value: JsonValue, place: str) -> Wanted:
    return Bounds(name, below=_number(name, value, place))


def _lte(name: str, value: JsonValue, place: str) -> Wanted:
    return Bounds(name, at_most=_number(name, value, place))


_COMPARISONS: Mapping[str, Callable[[str, JsonValue, str], Wanted]] = {
    "eq": _eq,
    "ne": _ne,
    "gt": _gt,
    "gte": _gte,
    "lt": _lt,
    "lte": _lte,
    "in": _in,
    "nin": _nin,
}


def _scalar(value: JsonValue, place: str) -> Scalar:
    if value is None or isinstance(value, list | dict):
        raise BadFilterError(f"{place} compares with a text, a number or a truth value")
    return value


def _number(name: str, value: JsonValue, place: str) -> float:
    if name == CREATED_AT and isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError as error:
            raise BadFilterError(f"{place} compares with an ISO 8601 time") from error
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise BadFilterError(f"{place} compares with a number")
    return float(value)


def _all(parts: list[Wanted]) -> Wanted:
    return parts[0] if len(parts) == 1 else AllOf(tuple(parts))


def _leaves(
    given: JsonValue | Mapping[str, JsonValue], depth: int
) -> Iterator[tuple[str, JsonValue]]:
    if depth > _DEEPEST:
        raise BadFilterError(f"a filter is at most {_DEEPEST} levels deep")
    if isinstance(given, list):
        for part in given:
            yield from _leaves(part, depth)
    elif isinstance(given, Mapping):
        for name, value in given.items():
            if name in _LOGIC:
                yield from _leaves(value, depth + 1)
            else:
                yield name, value


def _shape(given: JsonValue | Mapping[str, JsonValue]) -> str:
    if isinstance(given, list):
        return ",".join(_shape(part) for part in given)
    if not isinstance(given, Mapping):
        return ""
    found: list[str] = []
    for name, value in given.items():
        if name in _LOGIC:
            found.append(f"{name}({_shape(value)})")
        elif isinstance(value, dict):
            found.append("+".join(sorted(value)))
        else:
            found.append("in" if isinstance(value, list) else "eq")
    return ",".join(found)
