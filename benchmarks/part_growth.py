"""Growth: what a larger index costs, and whether it still finds the same."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpus import Corpus, near_vectors, open_corpus
from benchmarks.errors import BenchmarkError
from benchmarks.processes import clean_environment
from benchmarks.scale import Scale
from benchmarks.timing import Times, growth_exponent, project, summarise
from ingestion.settings import IngestionSettings
from retrieval.opening import open_embedder

Kind = Literal["flat", "graph", "graph-int8"]
_KINDS: tuple[Kind, ...] = ("flat", "graph", "graph-int8")
_K = 10
_WIDTH = 256
_QUERIES = 100
_SECONDS = 5400.0
_CLUSTER_CHUNKS = 10_000_000


@dataclass(frozen=True, slots=True)
class GrowthFigures:
    """One index.

    Attributes:
        build_seconds: Writing and, for a graph, linking.
        recall: Share of the true ten nearest among the ten found.
        memory_mb: Proportional set size of a process that opened and searched it.
    """

    kind: Kind
    chunks: int
    build_seconds: float
    disk_mb: float
    memory_mb: float
    times: Times
    recall: float


@dataclass(frozen=True, slots=True)
class GrowthPart:
    """All sizes and kinds."""

    figures: tuple[GrowthFigures, ...]

    def exponents(self) -> dict[str, float]:
        """Return by kind how search time grows: it is proportional to size to this power."""
        return {
            kind: round(growth_exponent(sizes, times), 2)
            for kind, (sizes, times) in self._curves().items()
        }

    def projections(self) -> dict[str, float]:
        """Return by kind the milliseconds the fitted growth gives at ten million chunks."""
        return {
            kind: round(project(sizes, times, _CLUSTER_CHUNKS), 1)
            for kind, (sizes, times) in self._curves().items()
        }

    def _curves(self) -> dict[str, tuple[list[float], list[float]]]:
        found: dict[str, tuple[list[float], list[float]]] = {}
        for each in self.figures:
            sizes, times = found.setdefault(each.kind, ([], []))
            sizes.append(float(each.chunks))
            times.append(each.times.p50)
        return {kind: curve for kind, curve in found.items() if len(curve[0]) > 1}


async def measure_growth(scale: Scale, work: Path) -> GrowthPart:
    """Build and search every size of every kind; builds are kept and only searched again."""
    corpus = await open_corpus(work)
    queries = await asyncio.to_thread(_embed_queries, corpus, work)
    figures: list[GrowthFigures] = []
    for size in scale.growth:
        vectors = await asyncio.to_thread(near_vectors, corpus, size, work / f"vectors-{size}.npy")
        nearest = await asyncio.to_thread(_exact, vectors, queries)
        figures += [
            await asyncio.to_thread(_measure, kind, size, vectors, queries, nearest=nearest)
            for kind in _KINDS
        ]
    return GrowthPart(tuple(figures))


def _embed_queries(corpus: Corpus, work: Path) -> Path:
    target = work / "growth-queries.npy"
    if not target.is_file():
        embedder = open_embedder(IngestionSettings(data_dir=work / "base"))
        np.save(target, np.stack([embedder.embed_query(q) for q in corpus.questions[:_QUERIES]]))
    return target


def _exact(vectors: Path, queries: Path) -> NDArray[np.int64]:
    rows: NDArray[np.float32] = np.load(vectors, mmap_mode="r")
    asked: NDArray[np.float32] = np.load(queries)
    cosines = asked @ rows.T
    return np.argsort(-cosines, axis=1)[:, :_K]


def _measure(
    kind: Kind, size: int, vectors: Path, queries: Path, *, nearest: NDArray[np.int64]
) -> GrowthFigures:
    folder = vectors.parent / f"growth-{kind}-{size}"
    built = folder / "built.json"
    order = {
        "kind": kind,
        "size": size,
        "folder": str(folder / "points"),
        "vectors": str(vectors),
        "queries": str(queries),
        "width": _WIDTH,
        "k": _K,
    }
    if not built.is_file():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        built.write_text(json.dumps(_once({**order, "do": "build"}, folder)), encoding="utf-8")
    cost = cast("Mapping[str, float]", json.loads(built.read_text(encoding="utf-8")))
    answer = _once({**order, "do": "search"}, folder)
    found = cast("Sequence[Sequence[int]]", answer["found"])
    shared = [len({*mine} & {*map(int, true)}) for mine, true in zip(found, nearest, strict=True)]
    return GrowthFigures(
        kind=kind,
        chunks=size,
        build_seconds=round(cost["seconds"], 1),
        disk_mb=round(cost["disk_mb"], 1),
        memory_mb=round(cast("float", answer["memory_mb"]), 1),
        times=summarise(cast("Sequence[float]", answer["milliseconds"])),
        recall=round(sum(shared) / (_K * len(shared)), 4),
    )


def _once(order: Mapping[str, object], folder: Path) -> Mapping[str, object]:
    path = folder / "task.json"
    path.write_text(json.dumps(order), encoding="utf-8")
    try:
        finished = subprocess.run(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-m", "benchmarks.growth_once", str(path)],
            env=clean_environment({}),
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise BenchmarkError(f"{order['size']} chunks did not build in time") from error
    if finished.returncode:
        raise BenchmarkError(f"{order['size']} chunks: {finished.stderr.strip()[-600:]}")
    return cast("Mapping[str, object]", json.loads(finished.stdout.splitlines()[-1]))
