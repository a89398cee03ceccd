from __future__ import annotations

import pytest
from pydantic import JsonValue

from context.errors import BadFilterError
from context.filters import describe_filter, parse_filter
from retrieval.memory import AllOf, AnyOf, Bounds, Fact, Not


@pytest.mark.parametrize(
    ("given", "tree"),
    [
        ({}, AllOf(())),
        ({"topic": "build"}, Fact(('topic="build"',))),
        ({"rank": 1}, Fact(("rank=1.0",))),
        ({"done": True}, Fact(("done=true",))),
        ({"topic": ["a", "b"]}, Fact(('topic="a"', 'topic="b"'))),
        ({"topic": None}, Not(Fact(("topic",)))),
        (
            {"rank": {"gte": 2, "lt": 5}},
            AllOf((Bounds("rank", at_least=2), Bounds("rank", below=5))),
        ),
        ({"topic": {"ne": "a"}}, Not(Fact(('topic="a"',)))),
        ({"topic": {"nin": ["a"]}}, Not(Fact(('topic="a"',)))),
        ({"NOT": {"done": True}}, Not(AnyOf((Fact(("done=true",)),)))),
        (
            {"OR": [{"a": 1}, {"AND": [{"b": 2}, {"c": 3}]}]},
            AnyOf((Fact(("a=1.0",)), AllOf((Fact(("b=2.0",)), Fact(("c=3.0",)))))),
        ),
        (
            {"created_at": {"gt": "1970-01-01T00:00:10Z"}},
            Bounds("created_at", above=10.0),
        ),
    ],
)
def test_a_filter_becomes_one_tree(given: dict[str, JsonValue], tree: object) -> None:
    assert parse_filter(given) == tree


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ({"OR": []}, "filter.OR needs"),
        ({"AND": {"a": 1}}, "filter.AND takes a list"),
        ({"OR": [{"a": {"like": "x"}}]}, r"filter.OR\[0\].a has no comparison 'like'"),
        ({"a": {}}, "filter.a needs a comparison"),
        ({"a": {"gt": "x"}}, "filter.a compares with a number"),
        ({"a": {"gt": True}}, "filter.a compares with a number"),
        ({"a": {"in": []}}, "filter.a takes a list"),
        ({"@owner": "x"}, "names no field"),
        ({"a.b": 1}, "names no field"),
        ({"created_at": {"lt": "yesterday"}}, "ISO 8601"),
        ({"NOT": ["a"]}, r"filter.NOT\[0\] is an object"),
    ],
)
def test_an_unreadable_filter_names_the_place(given: dict[str, JsonValue], place: str) -> None:
    with pytest.raises(BadFilterError, match=place):
        parse_filter(given)


def test_depth_and_size_are_bounded() -> None:
    deep: dict[str, JsonValue] = {"a": 1}
    for _ in range(9):
        deep = {"NOT": deep}
    with pytest.raises(BadFilterError, match="levels"):
        parse_filter(deep)
    with pytest.raises(BadFilterError, match="conditions"):
        parse_filter({"OR": [{"a": number} for number in range(65)]})


def test_telemetry_holds_form_and_names_but_no_values() -> None:
    shape = describe_filter({"OR": [{"secret": "value"}, {"rank": {"gte": 3, "lt": 9}}]})

    assert shape.shape == "OR(eq,gte+lt)"
    assert shape.keys == ("rank", "secret")
