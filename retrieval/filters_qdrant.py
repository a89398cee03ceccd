"""Conditions as a Qdrant server takes them."""

from __future__ import annotations

from collections.abc import Iterable

from qdrant_client import models

from retrieval.conditions import (
    AnyText,
    Either,
    Equals,
    Ids,
    Missing,
    Node,
    Numbers,
    OneElement,
    Times,
)


def index_filter(found: Iterable[Node]) -> models.Filter | None:
    """Return the filter that all of these conditions make; None when there is none."""
    must = [_condition(node) for node in found]
    return models.Filter(must=must) if must else None


def _field(node: Equals | AnyText | Numbers | Times) -> models.FieldCondition:
    match node:
        case Equals():
            return models.FieldCondition(key=node.key, match=models.MatchValue(value=node.value))
        case AnyText():
            return models.FieldCondition(key=node.key, match=models.MatchAny(any=list(node.values)))
        case Numbers():
            bounds = models.Range(gte=node.at_least, lte=node.at_most)
            return models.FieldCondition(key=node.key, range=bounds)
        case Times():
            times = models.DatetimeRange.model_validate({"gte": node.at_least, "lte": node.at_most})
            return models.FieldCondition(key=node.key, range=times)


def _condition(node: Node) -> models.Condition:
    match node:
        case Missing():
            return models.IsEmptyCondition(is_empty=models.PayloadField(key=node.key))
        case Ids():
            return models.HasIdCondition(has_id=list(node.chunk_ids))
        case Either():
            return models.Filter(should=[_condition(option) for option in node.options])
        case OneElement():
            inner = models.Filter(must=[_condition(leaf) for leaf in node.conditions])
            return models.NestedCondition(nested=models.Nested(key=node.key, filter=inner))
        case _:
            return _field(node)
