"""A filter as a small tree of conditions on stored fields, before any engine's own classes.

Both adapters translate this tree, so that what a filter means is decided here and only here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from retrieval.access import Access, access_of, visible_label_keys, visible_source_keys
from retrieval.chunk import Chunk, JsonScalar, Occurrence
from retrieval.errors import BadRequestError
from retrieval.store import Condition, Filter, Range


@dataclass(frozen=True, slots=True)
class Equals:
    """A field, or one of its elements, equals a value."""

    key: str
    value: str | int


@dataclass(frozen=True, slots=True)
class AnyText:
    """A text field, or one of its elements, is among these."""

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Numbers:
    """A number lies within inclusive bounds; None leaves a side open."""

    key: str
    at_least: float | None
    at_most: float | None


@dataclass(frozen=True, slots=True)
class Times:
    """A UTC ISO 8601 time lies within inclusive bounds; None leaves a side open."""

    key: str
    at_least: str | None
    at_most: str | None


@dataclass(frozen=True, slots=True)
class Missing:
    """A field is absent or null."""

    key: str


@dataclass(frozen=True, slots=True)
class Ids:
    """The point is one of these."""

    chunk_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OneElement:
    """One element of an array of objects meets every condition; their keys are its own."""

    key: str
    conditions: tuple[Leaf, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """At least one of these holds."""

    options: tuple[Leaf, ...]


Leaf: TypeAlias = "Equals | AnyText | Numbers | Times | Missing | Ids | Either"
Node: TypeAlias = "Leaf | OneElement"

# Where a field of a filter is stored. Those of an occurrence are checked on one and the same.
_CHUNK_FIELDS = frozenset({"language", "updated_at"})
_OCCURRENCE_FIELDS = {
    "source": "source",
    "heading": "section_heading",
    "section_heading": "section_heading",
    "parent_heading": "parent_heading",
    "title": "title",
    "document_id": "document_id",
    "source_url": "source_url",
}
FLAGS_FIELD = "metadata_flags"
FILTER_FIELDS = (*sorted(_OCCURRENCE_FIELDS), *sorted(_CHUNK_FIELDS), "metadata.<name>")


def conditions(where: Filter, known: Iterable[Access]) -> tuple[Node, ...] | None:
    """Return the conditions that a point must all meet, or None when no point can.

    Args:
        where: What may be found.
        known: Every access of the build.

    Raises:
        BadRequestError: A field is not one of ``FILTER_FIELDS``, or a range mixes types.
    """
    of_chunk: list[Node] = []
    of_occurrence: list[Leaf] = []
    for name, condition in where.fields:
        if name in _OCCURRENCE_FIELDS:
            of_occurrence.append(_leaf(_OCCURRENCE_FIELDS[name], condition))
        elif name in _CHUNK_FIELDS or (name.startswith("metadata.") and name != "metadata."):
            of_chunk.append(_leaf(name, condition))
        else:
            raise BadRequestError(
                f"unknown filter field {name!r}; known are {', '.join(FILTER_FIELDS)}"
            )
    if where.chunk_ids is not None:
        of_chunk.append(Ids(where.chunk_ids))
    access = _access(where, list(known))
    if access is None or where.chunk_ids == ():
        return None
    if not of_occurrence:
        return (*access, *of_chunk)
    inner = tuple(AnyText(key.key.removesuffix("s"), key.values) for key in access)
    return (*access, OneElement("occurrences", (*inner, *of_occurrence)), *of_chunk)


def flag_key(name: str, *, is_set: bool) -> str:
    """Return a true or false value as a keyword: the embedded engine takes booleans for numbers."""
    return f"{name}={'true' if is_set else 'false'}"


def visible_occurrences(chunk: Chunk, where: Filter) -> tuple[Occurrence, ...]:
    """Return those occurrences of a chunk that a filter's labels and source let through."""
    held = frozenset(where.labels)
    return tuple(
        occurrence
        for occurrence in chunk.occurrences
        if (where.all_labels or held.issuperset(access_of(occurrence).labels))
        and (not where.source or occurrence.source == where.source)
    )


def _access(where: Filter, known: list[Access]) -> tuple[AnyText, ...] | None:
    granted = {label for a in known for label in a.labels} if where.all_labels else where.labels
    if where.source:
        keys = visible_source_keys(known, granted, where.source)
        return (AnyText("access_keys", tuple(keys)),) if keys else None
    visible = visible_label_keys(known, granted)
    if not visible:
        return None
    if len(visible) == len({a.label_key for a in known}):
        return ()  # the caller may see everything there is
    return (AnyText("label_keys", tuple(visible)),)


def _leaf(key: str, condition: Condition) -> Leaf:
    if isinstance(condition, Range):
        return _range(key, condition)
    if not isinstance(condition, tuple):
        return _equality(key, condition)
    texts = tuple(value for value in condition if isinstance(value, str))
    if not condition:
        raise BadRequestError(f"the any-of on {key!r} has no values")
    if len(texts) == len(condition):
        return AnyText(key, texts)
    return Either(tuple(_equality(key, value) for value in condition))


def _equality(key: str, value: JsonScalar) -> Leaf:
    if value is None:
        return Missing(key)
    if isinstance(value, bool):
        return AnyText(FLAGS_FIELD, (flag_key(key, is_set=value),))
    if isinstance(value, float):
        return Numbers(key, value, value)
    return Equals(key, value)


def _range(key: str, bounds: Range) -> Leaf:
    low, high = bounds.at_least, bounds.at_most
    if low is None and high is None:
        raise BadRequestError(f"the range on {key!r} has no bound")
    if not isinstance(low, str) and not isinstance(high, str):
        return Numbers(key, low, high)
    if isinstance(low, (str, type(None))) and isinstance(high, (str, type(None))):
        return Times(key, low, high)
    raise BadRequestError(f"the range on {key!r} mixes a number and a time")
