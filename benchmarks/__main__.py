"""``python -m benchmarks PART... [--quick] [--json]``: measure, and write or print.

Without a part, everything is measured and ``docs/benchmarks.md`` is written. Parts are search, ask,
ingestion, growth and start. What is made on the way (indexes, the peers' environments) is kept in
the work folder for the next run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from pydantic import JsonValue

from benchmarks.errors import BenchmarkError
from benchmarks.machine import Machine, describe_machine
from benchmarks.part_ask import measure_ask
from benchmarks.part_growth import measure_growth
from benchmarks.part_ingestion import measure_ingestion
from benchmarks.part_search import measure_search
from benchmarks.part_start import measure_start
from benchmarks.peer_runs import PEERS, PeerName
from benchmarks.processes import ROOT
from benchmarks.report import write_benchmarks
from benchmarks.scale import FULL, QUICK, Scale
from benchmarks.targets import Parts, Target, judge

PARTS = ("search", "ask", "ingestion", "growth", "start")


def main() -> int:
    """Run and return the exit code."""
    arguments = _parse()
    scale = QUICK if arguments.quick else FULL
    work = Path(arguments.work)
    work.mkdir(parents=True, exist_ok=True)
    wanted = arguments.parts or PARTS
    peers = () if arguments.no_peers else PEERS
    machine = describe_machine()
    try:
        parts = asyncio.run(measure(wanted, scale, work, peers=peers))
    except BenchmarkError as error:
        sys.stderr.write(f"{error.code}: {error}\n")
        return 1
    targets = judge(parts)
    if arguments.json:
        sys.stdout.write(json.dumps(figures(parts, targets, machine, scale)) + "\n")
    if not arguments.json or arguments.write:
        root = Path(arguments.root)
        page = write_benchmarks(parts, targets, machine, is_quick=scale.is_quick, root=root)
        sys.stderr.write(f"wrote {page}\n")
    return 0


async def measure(
    wanted: Sequence[str], scale: Scale, work: Path, *, peers: Sequence[PeerName]
) -> Parts:
    """Return the measured parts, measured one after the other.

    Raises:
        BenchmarkError: A part of our own cannot be measured; a peer that cannot be is named.
    """
    parts = Parts()
    if "ask" in wanted:
        parts = replace(parts, ask=await measure_ask(scale, work))
    if "start" in wanted:
        parts = replace(parts, start=await measure_start(scale, work))
    if "search" in wanted:
        parts = replace(parts, search=await measure_search(scale, work, peers=peers))
    if "ingestion" in wanted:
        parts = replace(parts, ingestion=await measure_ingestion(scale, work, peers=peers))
    if "growth" in wanted:
        parts = replace(parts, growth=await measure_growth(scale, work))
    return parts


def figures(
    parts: Parts, targets: Sequence[Target], machine: Machine, scale: Scale
) -> dict[str, JsonValue]:
    """Return one object of plain values; null for what was not measured."""
    extractive = parts.ask.agents[0] if parts.ask else None
    found: dict[str, object] = {
        "ask_overhead_p50_ms": extractive.overhead.p50 if extractive else None,
        "ask_overhead_p99_ms": extractive.overhead.p99 if extractive else None,
        "search_vs_peers": parts.search.ratios() if parts.search else None,
        "ingest_vs_raw": parts.ingestion.ratio_to_raw() if parts.ingestion else None,
        "ingest_vs_peers": parts.ingestion.ratios_to_peers() if parts.ingestion else None,
        "memory_mb": parts.start.whole_mb if parts.start else None,
        "ready_ms": parts.start.ready.p50 if parts.start else None,
        "is_quick": scale.is_quick,
        "machine": asdict(machine),
        "targets": [{**asdict(each), "is_met": each.is_met} for each in targets],
        "parts": asdict(parts),
    }
    # Through the encoder once: what is left has no tuples and no types of its own.
    plain: dict[str, JsonValue] = json.loads(json.dumps(found))
    return plain


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--quick", action="store_true", help="smaller sizes, fewer repetitions")
    parser.add_argument("--json", action="store_true", help="print one object; writes no report")
    parser.add_argument("--write", action="store_true", help="with --json, write the report too")
    parser.add_argument("--no-peers", action="store_true", help="measure the product alone")
    parser.add_argument("--work", default=str(ROOT / ".data" / "benchmarks"), help="work folder")
    parser.add_argument("--root", default=str(ROOT), help="folder whose docs/ is written")
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - {*PARTS}:
        parser.error(
            f"no part is called {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}"
        )
    return arguments


if __name__ == "__main__":
    sys.exit(main())
