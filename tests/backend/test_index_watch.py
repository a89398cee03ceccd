"""One look at the index for all who ask meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from backend.asking.index_watch import IndexWatch
from knowledge.contracts import IndexInfo, Measurement
from knowledge.errors import KnowledgeTimeoutError, KnowledgeUnavailableError
from service.tokens import Claims
from tests.backend.factories import INDEX
from tests.backend.fakes import FakeKnowledge

LATER = INDEX.model_copy(update={"build": "b2"})


class Slow(FakeKnowledge):
    """Answers once its gate is open, and counts."""

    def __init__(self, index: IndexInfo = INDEX) -> None:
        super().__init__(index=index)
        self.gate = asyncio.Event()
        self.looks = 0

    async def measure(self, query: str, chunk_ids: Sequence[str], claims: Claims) -> Measurement:
        self.looks += 1
        await self.gate.wait()
        return await super().measure(query, chunk_ids, claims)


class Clock:
    """Stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


async def test_all_who_ask_at_once_share_one_look() -> None:
    knowledge = Slow()
    watch = IndexWatch(knowledge, clock=Clock())
    waiting = [asyncio.create_task(watch.current()) for _ in range(20)]
    await asyncio.sleep(0)
    knowledge.gate.set()
    assert await asyncio.gather(*waiting) == [INDEX] * 20
    assert knowledge.looks == 1


async def test_all_who_ask_at_once_share_its_failure_and_the_next_one_looks_again() -> None:
    knowledge = Slow()
    knowledge.index_failure = KnowledgeUnavailableError("down")
    watch = IndexWatch(knowledge, clock=Clock())
    waiting = [asyncio.create_task(watch.current()) for _ in range(5)]
    await asyncio.sleep(0)
    knowledge.gate.set()
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(result) for result in results] == [KnowledgeUnavailableError] * 5
    assert knowledge.looks == 1
    knowledge.index_failure = None
    assert await watch.current() == INDEX


async def test_a_new_build_is_seen_after_a_while_or_at_once_when_told_to_forget() -> None:
    knowledge = FakeKnowledge()
    clock = Clock()
    watch = IndexWatch(knowledge, fresh_seconds=2.0, clock=clock)
    await watch.current()
    knowledge.index = LATER
    assert (await watch.current()).build == "b1"
    clock.now += 2.1
    assert (await watch.current()).build == "b2"
    knowledge.index = INDEX
    watch.forget()
    assert (await watch.current()).build == "b1"


async def test_one_who_leaves_does_not_take_the_look_from_the_others() -> None:
    knowledge = Slow()
    watch = IndexWatch(knowledge, clock=Clock())
    leaving, staying = (asyncio.create_task(watch.current()) for _ in range(2))
    await asyncio.sleep(0)
    leaving.cancel()
    knowledge.gate.set()
    assert await staying == INDEX


async def test_a_look_over_time_is_an_error_only_while_no_index_is_known() -> None:
    knowledge = Slow()
    clock = Clock()
    watch = IndexWatch(knowledge, timeout_seconds=0.01, clock=clock)
    with pytest.raises(KnowledgeTimeoutError):
        await watch.current()
    knowledge.gate.set()
    await watch.current()
    knowledge.gate.clear()
    clock.now += 10
    assert await watch.current() == INDEX
