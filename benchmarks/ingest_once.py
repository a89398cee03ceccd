"""One ingestion in a process of its own, so that its peak memory is its own.

``python -m benchmarks.ingest_once ORDER`` reads a JSON file and prints one JSON line.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np

from benchmarks.processes import peak_mb
from ingestion.composition import IngestionTools, open_tools
from ingestion.report import ProgressEvent
from ingestion.run import run
from ingestion.settings import IngestionSettings
from ingestion.sources import source_from
from retrieval.chunk import DenseVector
from retrieval.embedding import DenseEmbedder
from retrieval.models import ModelSpec
from retrieval.opening import open_embedder
from retrieval.tokens import Tokenizer

_THREADS = 2


class _Recorder:
    """Passes everything on and remembers which texts went through the model."""

    def __init__(self, model: DenseEmbedder) -> None:
        self._model = model
        self.texts: list[str] = []

    @property
    def spec(self) -> ModelSpec:
        return self._model.spec

    @property
    def digest(self) -> str:
        return self._model.digest

    @property
    def tokenizer(self) -> Tokenizer:
        return self._model.tokenizer

    def embed_passages(self, texts: Sequence[str]) -> list[DenseVector]:
        self.texts += texts
        return self._model.embed_passages(texts)

    def embed_query(self, text: str) -> DenseVector:
        return self._model.embed_query(text)


class _NoModel:
    """Vectors out of the text's hash: what the pipeline costs without any model."""

    def __init__(self, model: DenseEmbedder) -> None:
        self._model = model

    @property
    def spec(self) -> ModelSpec:
        return self._model.spec

    @property
    def digest(self) -> str:
        return "none"

    @property
    def tokenizer(self) -> Tokenizer:
        return self._model.tokenizer

    def embed_passages(self, texts: Sequence[str]) -> list[DenseVector]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> DenseVector:
        seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
        vector = np.random.default_rng(seed).standard_normal(self.spec.dimension, dtype=np.float32)
        return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def main() -> None:
    """Do what the order says and print what it cost."""
    order = cast("dict[str, str]", json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    settings = IngestionSettings(
        data_dir=Path(order["data_dir"]),
        profiles_file=Path(order["profiles"]) if order.get("profiles") else None,
    )
    if order["do"] == "raw":
        found = _run_model(settings, Path(order["texts"]))
    else:
        found = asyncio.run(_ingest(settings, order))
    sys.stdout.write(json.dumps({**found, "peak_mb": round(peak_mb(), 1)}) + "\n")


async def _ingest(settings: IngestionSettings, order: dict[str, str]) -> dict[str, float]:
    tools: IngestionTools = await asyncio.to_thread(open_tools, settings)
    model = _NoModel(tools.embedder) if order["model"] == "none" else tools.embedder
    recorder = _Recorder(model)
    tools = replace(tools, embedder=recorder)
    sources = [source_from(order["files"])]
    try:
        started = time.perf_counter()
        report = await run(sources, tools, settings, _silent)
        seconds = time.perf_counter() - started
        started = time.perf_counter()
        await run(sources, tools, settings, _silent)
        again = time.perf_counter() - started
    finally:
        await tools.close()
    await asyncio.to_thread(
        Path(order["texts"]).write_text, json.dumps(recorder.texts), encoding="utf-8"
    )
    return {
        "seconds": seconds,
        "again_seconds": again,
        "chunks": float(report.embedded),
        "texts": float(len(recorder.texts)),
    }


def _run_model(settings: IngestionSettings, texts: Path) -> dict[str, float]:
    """Let threads run the model over the same texts and do nothing else."""
    embedder = open_embedder(settings)
    rows = cast("list[str]", json.loads(texts.read_text(encoding="utf-8")))
    rows.sort(key=len, reverse=True)
    embedder.embed_passages(rows[-4:])
    waiting, turn = iter(rows), threading.Lock()

    def work() -> None:
        while True:
            with turn:
                text = next(waiting, None)
            if text is None:
                return
            embedder.embed_passages([text])

    threads = [threading.Thread(target=work) for _ in range(_THREADS)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"seconds": time.perf_counter() - started, "chunks": 0.0, "texts": float(len(rows))}


def _silent(event: ProgressEvent) -> None:
    del event


if __name__ == "__main__":
    main()
