"""Measured parts as rows of tables. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from benchmarks.part_ask import AskPart
from benchmarks.part_growth import GrowthPart
from benchmarks.part_ingestion import IngestionPart
from benchmarks.part_search import SearchPart
from benchmarks.part_start import StartPart
from benchmarks.timing import Times

Row: TypeAlias = tuple[str, ...]
Rows: TypeAlias = tuple[Row, list[Row]]


def table(head: Row, rows: Sequence[Row]) -> str:
    """Return a Markdown table."""
    lines = (head, tuple("---" for _ in head), *rows)
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def search_rows(part: SearchPart) -> Rows:
    """Return a row for every cell of the comparison of searches."""
    head = (
        "system",
        "search",
        "chunks",
        "callers",
        "p50 (quartiles), ms",
        "p99, ms",
        "per s",
        "MB",
    )
    ordered = sorted(part.cells, key=lambda c: (c.chunks, c.callers, c.mode, c.times.p50))
    return head, [
        (
            cell.system,
            cell.mode,
            f"{cell.chunks:,}",
            str(cell.callers),
            _spread(cell.times),
            f"{cell.times.p99:.1f}",
            f"{cell.per_second:g}",
            f"{cell.memory_mb:.0f}" if cell.memory_mb else "",
        )
        for cell in ordered
    ]


def ask_rows(part: AskPart) -> Rows:
    """Return a row for every figure of asking, a column for every agent."""
    agents = part.agents
    rows: list[Row] = [
        ("overhead at one caller, p50 (quartiles), ms", *(_spread(a.overhead) for a in agents)),
        ("overhead p99, ms", *(f"{a.overhead.p99:.1f}" for a in agents)),
        ("with the embedding, p50 (quartiles), ms", *(_spread(a.fresh) for a in agents)),
        ("until the verdict is sent, p50 (quartiles), ms", *(_spread(a.verdict) for a in agents)),
        ("at 32 callers, asks per second", *(f"{a.many.per_second:g}" for a in agents)),
        (
            f"over one embedding thread's {part.raw_per_second:g} per second",
            *(f"{a.many.per_second / part.raw_per_second:.2f}" for a in agents),
        ),
        ("bytes of a response", *(f"{a.response_bytes:,}" for a in agents)),
        ("abstained, of the asks at one caller", *(str(a.abstained) for a in agents)),
    ]
    rows += [
        (f"processor ms of one ask, {name}", *(f"{a.cpu_ms[name]:g}" for a in agents))
        for name in agents[0].cpu_ms
    ]
    for stage in agents[0].stages:
        values = (f"{a.stages.get(stage, 0.0):g}" for a in agents)
        rows.append((f"stage {stage}, p50, ms", *values))
    return (f"{part.chunks:,} chunks", *(a.agent for a in agents)), rows


def ingestion_rows(part: IngestionPart) -> Rows:
    """Return a row for every system."""
    head = (
        "system",
        "passages",
        "texts embedded",
        "s",
        "texts per s",
        "kB of source per s",
        "peak MB",
        "again, s",
    )
    systems = (*part.systems, *((part.many,) if part.many else ()))
    return head, [
        (
            each.system,
            f"{each.chunks:,}" if each.chunks else "",
            f"{each.texts:,}",
            f"{each.seconds:.1f}",
            f"{each.texts_per_second:.1f}",
            f"{each.kilobytes_per_second:.1f}",
            f"{each.peak_mb:.0f}",
            "" if each.again_seconds is None else f"{each.again_seconds:.2f}",
        )
        for each in systems
    ]


def growth_rows(part: GrowthPart) -> Rows:
    """Return a row for every size and kind of index."""
    head = (
        "index",
        "chunks",
        "build, s",
        "disk, MB",
        "reader, MB",
        "p50 (quartiles), ms",
        "recall@10",
    )
    return head, [
        (
            each.kind,
            f"{each.chunks:,}",
            f"{each.build_seconds:.1f}",
            f"{each.disk_mb:.0f}",
            f"{each.memory_mb:.0f}",
            _spread(each.times, digits=2),
            f"{each.recall:.3f}",
        )
        for each in part.figures
    ]


def start_rows(part: StartPart) -> Rows:
    """Return a row for every figure of starting and idling."""
    rows: list[Row] = [
        ("ready, s", f"{part.ready.p50 / 1000:.2f}"),
        ("processor until ready, s", f"{part.cpu_seconds:.2f}"),
        ("memory of the whole stack, MB", f"{part.whole_mb:.0f}"),
    ]
    rows += [(f"memory, {name}, MB", f"{mb:.0f}") for name, mb in part.memory_mb.items()]
    rows += [(f"import {name}, processor ms", f"{ms:.0f}") for name, ms in part.import_ms.items()]
    return (f"{part.chunks:,} chunks", ""), rows


def _spread(times: Times, *, digits: int = 1) -> str:
    return f"{times.p50:.{digits}f} ({times.low:.{digits}f}-{times.high:.{digits}f})"
