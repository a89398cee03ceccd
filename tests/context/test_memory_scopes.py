"""A thousand searches over random scopes and filters, each against plain Python."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue
from qdrant_client import AsyncQdrantClient

from context.contract_memory import Scope
from context.memory import Memories
from retrieval.memory import MemoryStore
from retrieval.store_memory_edge import EdgeMemoryStore
from retrieval.store_memory_qdrant import QdrantMemoryStore
from tests.context.memories import DIMENSION, HashModel

MEMORIES = 90
USERS = ("", "ada", "bob", 'ad"a')
AGENTS = ("", "writer", "ada")
RUNS = ("", "run-1", "run-2")
OWNERS = ("key-a", "key-b")
VALUES: tuple[JsonValue, ...] = ("x", "y", 1, 2, 2.5, True, False, None, ["x", 2], "1", "true")
FIELDS = ("topic", "rank", "done")


@dataclass(frozen=True)
class Kept:
    content: str
    owner: str
    scope: Scope
    metadata: dict[str, JsonValue]


def values_of(kept: Kept, name: str) -> list[JsonValue]:
    value = kept.metadata.get(name)
    return [each for each in (value if isinstance(value, list) else [value]) if each is not None]


def same(left: JsonValue, right: JsonValue) -> bool:
    return isinstance(left, bool) == isinstance(right, bool) and left == right


def compares(kept: Kept, name: str, how: str, bound: JsonValue) -> bool:
    held = values_of(kept, name)
    if how in {"ne", "nin"}:
        return not compares(kept, name, {"ne": "eq", "nin": "in"}[how], bound)
    if how in {"eq", "in"}:
        wanted = bound if isinstance(bound, list) else [bound]
        return any(same(each, one) for each in held for one in wanted)
    numbers = [n for n in held if isinstance(n, int | float) and not isinstance(n, bool)]
    assert isinstance(bound, int | float)
    return any(
        {"gt": n > bound, "gte": n >= bound, "lt": n < bound, "lte": n <= bound}[how]
        for n in numbers
    )


def holds(kept: Kept, wanted: Mapping[str, JsonValue]) -> bool:
    for name, value in wanted.items():
        if name == "NOT":
            parts = value if isinstance(value, list) else [value]
            met = not any(isinstance(part, dict) and holds(kept, part) for part in parts)
        elif name in {"AND", "OR"}:
            assert isinstance(value, list)
            each = [isinstance(part, dict) and holds(kept, part) for part in value]
            met = all(each) if name == "AND" else any(each)
        elif isinstance(value, dict):
            met = all(compares(kept, name, how, bound) for how, bound in value.items())
        elif value is None:
            met = not values_of(kept, name)
        else:
            met = compares(kept, name, "in" if isinstance(value, list) else "eq", value)
        if not met:
            return False
    return True


def is_in(kept: Kept, scope: Scope, owner: str) -> bool:
    asked = {name: value for name, value in scope.model_dump().items() if value}
    own = kept.scope.model_dump()
    return kept.owner == owner and all(own[name] == value for name, value in asked.items())


def some_scope(chance: random.Random) -> Scope:
    while True:
        ids = (chance.choice(USERS), chance.choice(AGENTS), chance.choice(RUNS))
        if any(ids):
            return Scope(user_id=ids[0], agent_id=ids[1], run_id=ids[2])


def some_filter(chance: random.Random, depth: int = 0) -> dict[str, JsonValue]:
    kind = chance.choice(("field", "compare", "range", "AND", "OR", "NOT", "none"))
    name = chance.choice(FIELDS)
    if depth >= 3 and kind in {"AND", "OR", "NOT"}:
        kind = "field"
    if kind in {"AND", "OR"}:
        return {kind: [some_filter(chance, depth + 1) for _ in range(chance.randint(1, 3))]}
    if kind == "NOT":
        return {kind: some_filter(chance, depth + 1)}
    if kind == "field":
        return {name: chance.choice(VALUES)}
    if kind == "compare":
        how = chance.choice(("eq", "ne", "in", "nin"))
        plain = [value for value in VALUES if value is not None and not isinstance(value, list)]
        picked: list[JsonValue] = chance.sample(plain, 2)
        return {name: {how: picked if how in {"in", "nin"} else picked[0]}}
    if kind == "range":
        return {name: {chance.choice(("gt", "gte", "lt", "lte")): chance.choice((0, 1, 2, 2.5))}}
    return {}


async def fill(memories: Memories, chance: random.Random) -> list[Kept]:
    made: list[Kept] = []
    for number in range(MEMORIES):
        kept = Kept(
            content=f"memory {number}",
            owner=chance.choice(OWNERS),
            scope=some_scope(chance),
            metadata={
                name: chance.choice(VALUES) for name in chance.sample(FIELDS, chance.randint(0, 3))
            },
        )
        await memories.remember(kept.content, kept.scope, kept.metadata, owner=kept.owner)
        made.append(kept)
    return made


async def compare(store: MemoryStore, *, searches: int, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - trials, not secrets
    memories = Memories(store, HashModel())
    made = await fill(memories, chance)
    found_any = 0
    for number in range(searches):
        scope, wanted = some_scope(chance), some_filter(chance)
        owner = chance.choice(OWNERS)
        result = await memories.search(
            f"query {number}",
            scope,
            wanted,
            owner=owner,
            top_k=MEMORIES,
            threshold_cosine=-1.0,
            rerank=False,
        )
        expected = {k.content for k in made if is_in(k, scope, owner) and holds(k, wanted)}
        assert {memory.content for memory in result.memories} == expected, (scope, wanted, owner)
        found_any += bool(expected)
    assert found_any > searches // 10
    await store.close()


async def test_no_search_of_a_thousand_leaks_or_misses_a_memory(tmp_path: Path) -> None:
    await compare(EdgeMemoryStore(tmp_path / "memory", DIMENSION), searches=1000, seed=8)


async def test_a_server_filters_as_the_embedded_shard_does() -> None:
    client = AsyncQdrantClient(":memory:")
    store = QdrantMemoryStore(client, "memories", DIMENSION, indexed=False)
    await compare(store, searches=200, seed=9)
