"""One index of one size, built or searched in a process of its own.

``python -m benchmarks.growth_once ORDER`` reads a JSON file and prints one JSON line. The engine
holds the interpreter lock while it builds a graph, which is why a serving process never does.
"""

from __future__ import annotations

import json
import os
import sys
import time
import uuid
from pathlib import Path
from typing import TypedDict, cast

import numpy as np
import qdrant_edge as edge
from numpy.typing import NDArray

from benchmarks.processes import pss_mb

_VECTOR = "dense"
_BATCH = 256
_LINKS, _BUILD_WIDTH = 24, 256
_INDEX_FROM_KB = 1000


class Order(TypedDict):
    """What is to be done.

    Attributes:
        kind: ``flat``, ``graph``, ``graph-int8`` (quantised, originals on disk).
        width: Candidates kept while the graph is searched; 0 searches everything.
    """

    do: str
    kind: str
    size: int
    folder: str
    vectors: str
    queries: str
    width: int
    k: int


def main() -> None:
    """Do what the order says and print what it cost."""
    order = cast("Order", json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    found = _build(order) if order["do"] == "build" else _search(order)
    sys.stdout.write(json.dumps(found) + "\n")


def _build(order: Order) -> dict[str, float]:
    vectors: NDArray[np.float32] = np.load(order["vectors"], mmap_mode="r")[: order["size"]]
    folder = Path(order["folder"])
    folder.mkdir(parents=True)
    started = time.perf_counter()
    shard = edge.EdgeShard.create(str(folder), _config(order["kind"], vectors.shape[1]))
    for at in range(0, len(vectors), _BATCH):
        points = [
            edge.Point(str(uuid.UUID(int=at + place)), {_VECTOR: row.tolist()}, {"at": at + place})
            for place, row in enumerate(vectors[at : at + _BATCH])
        ]
        shard.update(edge.UpdateOperation.upsert_points(points))
    if order["kind"] != "flat":
        shard.optimize()
    shard.flush()
    shard.close()
    return {"seconds": time.perf_counter() - started, "disk_mb": _disk_mb(folder)}


def _search(order: Order) -> dict[str, object]:
    queries: NDArray[np.float32] = np.load(order["queries"])
    shard = edge.EdgeShard.load(order["folder"])
    taken: list[float] = []
    found: list[list[int]] = []
    for query in (*queries[:5], *queries):
        request = edge.QueryRequest(
            limit=order["k"],
            query=edge.Query.Nearest(query.tolist(), using=_VECTOR),
            params=_params(order),
        )
        started = time.perf_counter()
        points = shard.query(request)
        taken.append((time.perf_counter() - started) * 1000)
        found.append([uuid.UUID(str(point.id)).int for point in points])
    memory = pss_mb(os.getpid())
    shard.close()
    return {"milliseconds": taken[5:], "found": found[5:], "memory_mb": memory}


def _config(kind: str, dimension: int) -> edge.EdgeConfig:
    graph = edge.HnswIndexConfig(
        m=_LINKS, ef_construct=_BUILD_WIDTH, full_scan_threshold=_INDEX_FROM_KB
    )
    small = edge.ScalarQuantizationConfig(edge.ScalarType.Int8, quantile=0.99, always_ram=True)
    is_small = kind.endswith("int8")
    vectors = edge.EdgeVectorParams(
        size=dimension,
        distance=edge.Distance.Cosine,
        on_disk=is_small or None,
        hnsw_config=None if kind == "flat" else graph,
        quantization_config=small if is_small else None,
    )
    return edge.EdgeConfig(
        vectors={_VECTOR: vectors},
        optimizers=edge.EdgeOptimizersConfig(
            indexing_threshold=_INDEX_FROM_KB, default_segment_number=1
        ),
    )


def _params(order: Order) -> edge.SearchParams:
    if order["kind"] == "flat":
        return edge.SearchParams(exact=True)
    again = edge.QuantizationSearchParams(rescore=True, oversampling=2.0)
    is_small = order["kind"].endswith("int8")
    return edge.SearchParams(hnsw_ef=order["width"], quantization=again if is_small else None)


def _disk_mb(folder: Path) -> float:
    # Blocks, not lengths: the engine's files have holes.
    return sum(path.stat().st_blocks for path in folder.rglob("*")) * 512 / 2**20


if __name__ == "__main__":
    main()
