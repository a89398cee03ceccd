from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.__main__ import figures
from benchmarks.callers import Load, run_callers, run_threads
from benchmarks.instant_model import reply_to
from benchmarks.machine import Machine
from benchmarks.part_ask import AgentFigures, AskPart
from benchmarks.part_growth import GrowthFigures, GrowthPart
from benchmarks.part_ingestion import IngestFigures, IngestionPart
from benchmarks.part_search import IN_PROCESS, OVER_MCP, SearchCell, SearchPart
from benchmarks.part_start import StartPart
from benchmarks.peer_runs import SCRIPTS
from benchmarks.processes import ROOT
from benchmarks.report import write_benchmarks
from benchmarks.scale import QUICK
from benchmarks.targets import Parts, judge
from benchmarks.timing import Times, growth_exponent, project, summarise

MACHINE = Machine("a processor", 2, 8.0, "Linux x86_64", "3.11.0", 0.1, {"numpy": "2"})


def times(p50: float) -> Times:
    return Times(n=9, p50=p50, p99=2 * p50, low=p50 - 1, high=p50 + 1)


def cell(system: str, p50: float, *, chunks: int = 1000, callers: int = 1) -> SearchCell:
    return SearchCell(system, "hybrid", chunks, callers, times(p50), 1000 / p50, 100.0)


SEARCH = SearchPart(
    cells=(
        cell(OVER_MCP, 8),
        cell(IN_PROCESS, 5),
        cell(IN_PROCESS, 10, chunks=10_000),
        cell("haystack", 30),
        cell("haystack", 20, chunks=10_000),
        cell("mcp-server-qdrant", 6),
    ),
    absent={"llamaindex": "no network"},
)
AGENT = AgentFigures(
    "extractive", times(9), {"total": 8.0}, times(15), times(12), Load(times(99), 70.0),
    {"API": 4.0}, 9000, 1,
)  # fmt: skip
PARTS = Parts(
    search=SEARCH,
    ask=AskPart((AGENT,), raw_per_second=100.0, chunks=3500),
    ingestion=IngestionPart(
        4,
        100.0,
        (
            IngestFigures("vouch", 90, 90, 10.0, 9.0, 10.0, 300.0, again_seconds=0.1),
            IngestFigures("bare model", 90, 90, 9.0, 10.0, 11.0, 200.0),
            IngestFigures("haystack", 80, 80, 20.0, 4.0, 5.0, 900.0),
        ),
        None,
        0,
        {},
    ),
    growth=GrowthPart(
        tuple(
            GrowthFigures("graph", size, 1.0, 2.0, 3.0, times(p50), 0.99)
            for size, p50 in ((10_000, 2.0), (100_000, 4.0))
        )
    ),
    start=StartPart(3500, times(3000), 5.0, {"API": 100.0, "tool server": 200.0}, {"x": 10.0}),
)


def test_times_are_summarised_by_median_quartiles_and_the_last_percentile() -> None:
    assert summarise([1.0, 2.0, 3.0, 4.0, 100.0]) == Times(5, 3.0, 96.16, 2.0, 4.0)
    with pytest.raises(ValueError, match="nothing"):
        summarise([])


def test_growth_is_fitted_by_a_power_law() -> None:
    sizes, values = [10.0, 100.0, 1000.0], [1.0, 10.0, 100.0]
    assert growth_exponent(sizes, values) == pytest.approx(1.0)
    assert project(sizes, values, 10_000.0) == pytest.approx(1000.0)


def test_a_peer_is_compared_in_its_best_cell_with_what_speaks_as_it_does() -> None:
    # 20 against 10 in process, not 30 against 5; 6 against 8 over the protocol is a loss.
    assert SEARCH.ratios() == {"haystack": 2.0, "mcp-server-qdrant": 0.75}


def test_every_target_is_judged_by_what_was_seen() -> None:
    verdicts = {target.name: target.is_met for target in judge(PARTS)}
    assert verdicts["ask overhead p50, ms (extractive)"]
    assert not verdicts["asks at 32 callers over one embedding thread's rate (extractive)"]
    assert not verdicts["search, times faster than mcp-server-qdrant in its best cell"]
    assert verdicts["ingestion over the bare model"]
    assert verdicts["unchanged files, times faster"]
    assert verdicts["whole stack with 3,500 chunks, MB"]
    assert not judge(Parts())


def test_the_object_has_what_was_promised_and_nothing_invented() -> None:
    found = figures(PARTS, judge(PARTS), MACHINE, QUICK)
    assert found["ask_overhead_p50_ms"] == 9
    assert found["ask_overhead_p99_ms"] == 18
    assert found["search_vs_peers"] == {"haystack": 2.0, "mcp-server-qdrant": 0.75}
    assert found["ingest_vs_raw"] == 0.9
    assert found["ingest_vs_peers"] == {"haystack": 2.0}
    missing = figures(replace(PARTS, ask=None, ingestion=None), (), MACHINE, QUICK)
    assert missing["ask_overhead_p50_ms"] is None
    assert missing["ingest_vs_raw"] is None
    assert json.loads(json.dumps(found)) == found


def test_the_report_says_what_was_missed_what_was_absent_and_that_it_was_quick(
    tmp_path: Path,
) -> None:
    page = write_benchmarks(PARTS, judge(PARTS), MACHINE, is_quick=True, root=tmp_path)
    text = page.read_text()
    assert "quick form" in text
    assert "**missed**" in text
    assert "a processor" in text
    details = (tmp_path / "docs" / "evaluation" / "benchmarks.md").read_text()
    assert "llamaindex: no network" in details
    for figure in ("search", "growth"):
        assert f"benchmarks-{figure}.svg" in details
        assert (tmp_path / "docs" / "evaluation" / f"benchmarks-{figure}.svg").is_file()


async def test_callers_share_the_texts_among_them() -> None:
    asked: list[str] = []

    async def call(text: str) -> None:
        asked.append(text)

    load = await run_callers(call, ["a", "b", "c", "d", "e"], 2)
    assert (load.times.n, sorted(asked)) == (5, ["a", "b", "c", "d", "e"])
    assert run_threads(asked.append, ["f", "g"], 2).times.n == 2


def test_the_instant_model_quotes_the_first_passage() -> None:
    evidence = "BEGIN EVIDENCE [1] n\nTitle\nThe port is set with the flag and defaults to 8000."
    body = json.dumps({"messages": [{"content": evidence + "\nEND EVIDENCE [1] n"}]})
    reply = json.loads(reply_to(body))
    content = reply["choices"][0]["message"]["content"]
    assert content == "The port is set with the flag and defaults to 8000. [1]"


def test_an_unknown_part_is_refused_by_name() -> None:
    command = [sys.executable, "-m", "benchmarks", "sarch"]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert finished.returncode == 2
    assert "sarch" in finished.stderr


@pytest.mark.parametrize("lock", sorted(SCRIPTS.glob("*.lock")), ids=lambda path: path.stem)
def test_peers_are_pinned_by_hash_and_name_no_host(lock: Path) -> None:
    text = lock.read_text()
    assert "://" not in text
    pins = [line for line in text.splitlines() if line and not line.startswith((" ", "#"))]
    assert pins
    assert text.count("--hash=sha256:") >= len(pins)
