"""What was promised, and whether a run keeps it. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.part_ask import AskPart
from benchmarks.part_growth import GrowthPart
from benchmarks.part_ingestion import IngestionPart
from benchmarks.part_search import SearchPart
from benchmarks.part_start import StartPart


@dataclass(frozen=True, slots=True)
class Parts:
    """What a run measured; None for parts that were not asked for."""

    search: SearchPart | None = None
    ask: AskPart | None = None
    ingestion: IngestionPart | None = None
    growth: GrowthPart | None = None
    start: StartPart | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """One promise beside what was seen.

    Attributes:
        at_most: Whether the figure may not be larger than the limit; else not smaller.
    """

    name: str
    limit: float
    seen: float
    at_most: bool

    @property
    def is_met(self) -> bool:
        """Whether the run keeps it."""
        return self.seen <= self.limit if self.at_most else self.seen >= self.limit


def judge(parts: Parts) -> tuple[Target, ...]:
    """Return every target the measured parts have a figure for."""
    return (
        *_of_ask(parts.ask),
        *_of_search(parts.search),
        *_of_ingestion(parts.ingestion),
        *_of_growth(parts.growth),
        *_of_start(parts.start),
    )


def _of_ask(part: AskPart | None) -> Iterator[Target]:
    if part is None:
        return
    for agent in part.agents:
        yield _most(f"ask overhead p50, ms ({agent.agent})", 10.0, agent.overhead.p50)
        yield _most(f"ask overhead p99, ms ({agent.agent})", 25.0, agent.overhead.p99)
        share = agent.many.per_second / part.raw_per_second
        name = f"asks at 32 callers over one embedding thread's rate ({agent.agent})"
        yield _least(name, 0.75, round(share, 3))


def _of_search(part: SearchPart | None) -> Iterator[Target]:
    if part is None:
        return
    for peer, ratio in part.ratios().items():
        yield _least(f"search, times faster than {peer} in its best cell", 1.0, ratio)


def _of_ingestion(part: IngestionPart | None) -> Iterator[Target]:
    if part is None:
        return
    yield _least("ingestion over the bare model", 0.90, part.ratio_to_raw())
    for peer, ratio in part.ratios_to_peers().items():
        yield _least(f"ingestion, times faster than {peer}", 1.0, ratio)
    for peer, ratio in part.ratios_for_equal_work().items():
        yield _least(f"the same with one vector a passage, over {peer}", 1.0, ratio)
    ours = part.of("vouch")
    if ours and ours.again_seconds:
        yield _least(
            "unchanged files, times faster", 50.0, round(ours.seconds / ours.again_seconds)
        )
        yield _most("ingestion, peak memory, MB", 1024.0, ours.peak_mb)
    if part.many:
        yield _most(f"{part.many_documents} documents, peak MB", 1024.0, part.many.peak_mb)


def _of_growth(part: GrowthPart | None) -> Iterator[Target]:
    if part is None:
        return
    graph = sorted((each.chunks, each) for each in part.figures if each.kind == "graph")
    if len(graph) > 1:
        (small, first), (large, last) = graph[0], graph[-1]
        ratio = round(last.times.p50 / first.times.p50, 2)
        yield _most(f"search of {large:,} chunks over {small:,}", 3.0, ratio)
        yield _least(f"recall@10 at {large:,} chunks", 0.98, last.recall)


def _of_start(part: StartPart | None) -> Iterator[Target]:
    if part is None:
        return
    yield _most("ready, s", 4.0, round(part.ready.p50 / 1000, 2))
    yield _most("processor until ready, s", 6.0, part.cpu_seconds)
    yield _most(f"whole stack with {part.chunks:,} chunks, MB", 450.0, part.whole_mb)


def _most(name: str, limit: float, seen: float) -> Target:
    return Target(name, limit, seen, at_most=True)


def _least(name: str, limit: float, seen: float) -> Target:
    return Target(name, limit, seen, at_most=False)
