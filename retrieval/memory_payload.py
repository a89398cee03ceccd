"""How a memory is stored in a point's payload, the same in both stores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from pydantic import JsonValue

from retrieval.memory import MemoryPoint

FACTS = "facts"
_NUMBERS = "numbers"
_STORED = "stored"


def number_key(name: str) -> str:
    """Return the payload key of a number."""
    return f"{_NUMBERS}.{name}"


def to_payload(point: MemoryPoint) -> dict[str, JsonValue]:
    """Return the payload of a memory."""
    return {
        FACTS: list(point.facts),
        _NUMBERS: {name: list(values) for name, values in point.numbers.items()},
        _STORED: point.stored,
    }


def from_payload(memory_id: str, payload: Mapping[str, object]) -> MemoryPoint:
    """Return the memory of a payload, without its vector."""
    facts = cast("list[str]", payload[FACTS])
    numbers = cast("dict[str, list[float]]", payload[_NUMBERS])
    return MemoryPoint(
        memory_id=memory_id,
        facts=tuple(facts),
        numbers={name: tuple(values) for name, values in numbers.items()},
        stored=str(payload[_STORED]),
    )
