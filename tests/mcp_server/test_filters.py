"""Filters of a traced search."""

from __future__ import annotations

from mcp_server.filters import filter_of
from retrieval.store import Range
from tests.mcp_server.serving import claims


def test_each_form_becomes_the_engines_condition() -> None:
    where = filter_of(
        {"language": "en", "metadata.page": [1, 2], "updated_at": {"lte": "2026"}},
        claims(),
    )
    assert where.fields == (
        ("language", "en"),
        ("metadata.page", (1, 2)),
        ("updated_at", Range(at_most="2026")),
    )


def test_metadata_may_be_given_as_an_object() -> None:
    where = filter_of({"metadata": {"page": 3, "kind": ["a", "b"]}}, claims())
    assert where.fields == (("metadata.page", 3), ("metadata.kind", ("a", "b")))


def test_a_source_is_asked_for_as_search_kb_does_and_only_narrows_a_bound_one() -> None:
    assert filter_of({"source": "guide"}, claims()).source == "guide"
    bound = filter_of({"source": "guide"}, claims(source="secret"))
    assert bound.source == "secret"
    assert bound.fields == (("source", "guide"),)


def test_labels_come_from_the_token() -> None:
    assert filter_of({}, claims(labels=("staff",))).labels == ("staff",)
