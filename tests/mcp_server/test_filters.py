"""Filters of a traced search."""

from __future__ import annotations

from mcp_server.filters import RangeFilter, filter_of
from retrieval.store import Range
from tests.mcp_server.serving import claims


def test_each_form_becomes_the_engines_condition() -> None:
    where = filter_of(
        {"language": "en", "metadata.page": [1, 2], "updated_at": RangeFilter(lte="2026")},
        claims(),
    )
    assert where.fields == (
        ("language", "en"),
        ("metadata.page", (1, 2)),
        ("updated_at", Range(at_most="2026")),
    )


def test_labels_come_from_the_token() -> None:
    assert filter_of({}, claims(labels=("staff",))).labels == ("staff",)
