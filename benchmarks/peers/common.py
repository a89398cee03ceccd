"""What every peer's script shares: the order it gets, the measuring, the answer it gives.

These scripts run in the peers' own environments, where nothing of this project is installed.
"""

import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

MODEL = "bench/packaged"


def order():
    """Return what is to be done: the JSON file named by the first argument."""
    return json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))


def answer(result):
    """Write the result where the order wants it."""
    Path(order()["out"]).write_text(json.dumps(result), encoding="utf-8")


def passages(folder):
    """Return rows and vectors of the corpus."""
    with (Path(folder) / "texts.jsonl").open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return rows, np.load(Path(folder) / "vectors.npy")


def register(model_dir):
    """Make the packaged model known to fastembed, as its documentation says for custom models."""
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    TextEmbedding.add_custom_model(
        model=MODEL,
        pooling=PoolingType.MEAN,
        normalization=True,
        sources=ModelSource(hf=MODEL),
        dim=384,
        model_file="model.onnx",
    )
    return {"specific_model_path": model_dir}


def summary(taken, seconds):
    """Return median, quartiles, last percentile and rate."""
    low, middle, high, last = np.percentile(taken, [25, 50, 75, 99])
    return {
        "n": len(taken),
        "p50": round(float(middle), 3),
        "p99": round(float(last), 3),
        "low": round(float(low), 3),
        "high": round(float(high), 3),
        "per_second": round(len(taken) / seconds, 1),
    }


def run_threads(call, texts, callers):
    """Let so many threads work through the texts; return what they saw."""

    def timed(text):
        started = time.perf_counter()
        call(text)
        return (time.perf_counter() - started) * 1000

    started = time.perf_counter()
    with ThreadPoolExecutor(callers) as pool:
        taken = list(pool.map(timed, texts))
    return summary(taken, time.perf_counter() - started)


def memory():
    """Return proportional set size and peak of this process in megabytes."""
    pss = 0.0
    rollup = Path(f"/proc/{os.getpid()}/smaps_rollup")
    if rollup.is_file():
        for line in rollup.read_text().splitlines():
            if line.startswith("Pss:"):
                pss = int(line.split()[1]) / 1024
    peak = 0.0
    status = Path("/proc/self/status")
    if status.is_file():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                peak = int(line.split()[1]) / 1024
    return {"pss_mb": round(pss, 1), "peak_mb": round(peak, 1)}


def measure_searches(task, call):
    """Warm up, then measure every number of callers with questions of its own."""
    for text in task["warm"]:
        call(text)
    cells = {
        str(callers): run_threads(call, texts, int(callers))
        for callers, texts in task["questions"].items()
    }
    answer({"callers": cells, **memory()})
