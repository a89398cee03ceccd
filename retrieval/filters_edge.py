"""Conditions as the embedded index takes them."""

from __future__ import annotations

from collections.abc import Iterable

import qdrant_edge as edge

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


def index_filter(found: Iterable[Node]) -> edge.Filter | None:
    """Return the filter that all of these conditions make; None when there is none."""
    must = [_condition(node) for node in found]
    return edge.Filter(must=must) if must else None


def _field(node: Equals | AnyText | Numbers | Times) -> edge.FieldCondition:
    match node:
        case Equals():
            return edge.FieldCondition(key=node.key, match=edge.MatchValue(node.value))
        case AnyText():
            return edge.FieldCondition(key=node.key, match=edge.MatchAny(list(node.values)))
        case Numbers():
            bounds = edge.RangeFloat(gte=node.at_least, lte=node.at_most)
            return edge.FieldCondition(key=node.key, range=bounds)
        case Times():
            times = edge.RangeDateTime(gte=node.at_least, lte=node.at_most)
            return edge.FieldCondition(key=node.key, range=times)


def _condition(node: Node) -> edge.ConditionType:
    match node:
        case Missing():
            return edge.IsEmptyCondition(node.key)
        case Ids():
            return edge.HasIdCondition(set(node.chunk_ids))
        case Either():
            return edge.Filter(should=[_condition(option) for option in node.options])
        case OneElement():
            inner = edge.Filter(must=[_condition(leaf) for leaf in node.conditions])
            return edge.NestedCondition(node.key, inner)
        case _:
            return _field(node)
