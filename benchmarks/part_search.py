"""Search, from the text of a question to its passages, beside what a user would pick instead."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, cast

from pydantic import JsonValue

from benchmarks.callers import Load, run_callers
from benchmarks.corpus import Corpus, index_of, open_corpus, shifted, write_for_peers
from benchmarks.errors import BenchmarkError
from benchmarks.peer_runs import PEERS, Peer, PeerName, open_peer
from benchmarks.processes import pss_mb
from benchmarks.scale import Scale
from benchmarks.stack import serve
from benchmarks.timing import Times
from ingestion.settings import IngestionSettings
from retrieval.models import DEFAULT_MODEL, resolve_model
from retrieval.opening import open_engine
from retrieval.search import SearchRequest
from retrieval.store import Filter
from service.tokens import Claims

Mode = Literal["dense", "hybrid"]
Call: TypeAlias = Callable[[str], Awaitable[object]]
K = 4
_WARM = 8
_EVERYTHING = Filter(labels=(), all_labels=True)
OVER_MCP, IN_PROCESS = "vouch over MCP", "vouch in process"
# Who speaks the protocol is compared with us speaking it; a library with us as a library.
COUNTERPART: Mapping[PeerName, str] = {
    "mcp-server-qdrant": OVER_MCP,
    "haystack": IN_PROCESS,
    "llamaindex": IN_PROCESS,
}
MODES: Mapping[PeerName, tuple[Mode, ...]] = {
    "mcp-server-qdrant": ("dense",),
    "haystack": ("dense", "hybrid"),
    "llamaindex": ("dense", "hybrid"),
}


@dataclass(frozen=True, slots=True)
class SearchCell:
    """One system at one size, asked by so many callers.

    Attributes:
        mode: Of the product always hybrid, with the signals of its guard.
        memory_mb: Proportional set size of the process that searches, at the end.
    """

    system: str
    mode: Mode
    chunks: int
    callers: int
    times: Times
    per_second: float
    memory_mb: float


@dataclass(frozen=True, slots=True)
class SearchPart:
    """All cells, and which peers could not be run and why."""

    cells: tuple[SearchCell, ...]
    absent: Mapping[str, str]

    def ratios(self) -> dict[str, float]:
        """Return by peer how many times faster its counterpart is, in the peer's best cell."""
        found: dict[str, float] = {}
        ours = {(c.system, c.chunks, c.callers): c.times.p50 for c in self.cells}
        for cell in self.cells:
            counterpart = COUNTERPART.get(cast("PeerName", cell.system))
            base = ours.get((counterpart or "", cell.chunks, cell.callers))
            if base:
                ratio = round(cell.times.p50 / base, 2)
                found[cell.system] = min(found.get(cell.system, ratio), ratio)
        return found


async def measure_search(scale: Scale, work: Path, *, peers: Sequence[PeerName]) -> SearchPart:
    """Measure every system at every size; sizes take turns, so that all meet the same machine."""
    corpus = await open_corpus(work)
    installed, absent = await asyncio.to_thread(_open_peers, peers, work)
    cells: list[SearchCell] = []
    for size in scale.chunks:
        data_dir = await index_of(corpus, size, work)
        texts = _questions(corpus, scale)
        cells += await _over_mcp(data_dir, size, texts)
        cells += await _in_process(data_dir, size, texts)
        for peer in installed:
            for mode in MODES[peer.name]:
                try:
                    cells += await asyncio.to_thread(
                        _of_peer, peer, mode, corpus, size=size, texts=texts, work=work
                    )
                except BenchmarkError as error:
                    absent[f"{peer.name}, {mode}, {size}"] = str(error)
    return SearchPart(tuple(cells), absent)


def _open_peers(names: Sequence[PeerName], work: Path) -> tuple[list[Peer], dict[str, str]]:
    installed: list[Peer] = []
    absent = {name: "left out by the caller" for name in PEERS if name not in names}
    for name in names:
        try:
            installed.append(open_peer(name, work))
        except BenchmarkError as error:
            absent[name] = str(error)
    return installed, absent


def _questions(corpus: Corpus, scale: Scale) -> dict[int, list[str]]:
    """Return distinct questions for every number of callers."""
    pool: list[str] = []
    times = 0
    while len(pool) < scale.searches * len(scale.callers) + _WARM:
        pool += shifted(corpus.questions, times)
        times += 1
    chosen = iter(pool)
    found = {0: [next(chosen) for _ in range(_WARM)]}
    for callers in scale.callers:
        found[callers] = [next(chosen) for _ in range(scale.searches)]
    return found


async def _over_mcp(data_dir: Path, size: int, texts: dict[int, list[str]]) -> list[SearchCell]:
    with serve(data_dir, with_api=False) as stack:
        async with stack.client() as client:
            tools = client.bind(Claims(ask_id="", branch="direct", scopes=("search",)), top_k=K)

            async def call(text: str) -> object:
                return await tools.search_kb(text, K)

            loads = await _measure(call, texts)
        memory = pss_mb(stack.mcp.pid)
    return _cells(OVER_MCP, "hybrid", size, loads, memory)


async def _in_process(data_dir: Path, size: int, texts: dict[int, list[str]]) -> list[SearchCell]:
    engine = await open_engine(IngestionSettings(data_dir=data_dir, query_cache_size=0))

    async def call(text: str) -> object:
        return await engine.search(SearchRequest(query=text, top_k=K, where=_EVERYTHING))

    try:
        loads = await _measure(call, texts)
    finally:
        await engine.close()
    # The process also holds the corpus, so its memory would say nothing.
    return _cells(IN_PROCESS, "hybrid", size, loads, 0.0)


async def _measure(call: Call, texts: dict[int, list[str]]) -> dict[int, Load]:
    await run_callers(call, texts[0], 1)
    return {c: await run_callers(call, asked, c) for c, asked in texts.items() if c}


def _of_peer(
    peer: Peer, mode: Mode, corpus: Corpus, *, size: int, texts: dict[int, list[str]], work: Path
) -> list[SearchCell]:
    model_dir = resolve_model(DEFAULT_MODEL, work / "base" / "models").directory
    task: dict[str, JsonValue] = {
        "do": "search",
        "mode": mode,
        "corpus": str(write_for_peers(corpus, size, work)),
        "model_dir": str(model_dir),
        "store": str(work / f"qdrant-{size}"),
        "k": K,
        "warm": list(texts[0]),
        "questions": {str(c): list(asked) for c, asked in texts.items() if c},
    }
    run = peer.serve_and_run if peer.name == "mcp-server-qdrant" else peer.run
    answer = run(task, work)
    loads = {
        int(callers): _load(cast("Mapping[str, float]", figures))
        for callers, figures in cast("Mapping[str, JsonValue]", answer["callers"]).items()
    }
    return _cells(peer.name, mode, size, loads, float(cast("float", answer["pss_mb"])))


def _load(figures: Mapping[str, float]) -> Load:
    times = Times(
        n=int(figures["n"]),
        p50=figures["p50"],
        p99=figures["p99"],
        low=figures["low"],
        high=figures["high"],
    )
    return Load(times, figures["per_second"])


def _cells(
    system: str, mode: Mode, size: int, loads: Mapping[int, Load], memory: float
) -> list[SearchCell]:
    return [
        SearchCell(system, mode, size, callers, load.times, load.per_second, round(memory, 1))
        for callers, load in loads.items()
    ]
