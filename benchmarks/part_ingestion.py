"""Ingestion: chunks a second and peak memory, beside the bare model and beside the peers."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from pydoc_data.topics import topics
from typing import cast

from pydantic import JsonValue

from benchmarks.errors import BenchmarkError
from benchmarks.peer_runs import PeerName, open_peer
from benchmarks.processes import clean_environment
from benchmarks.scale import Scale
from retrieval.models import DEFAULT_MODEL, resolve_model

_INGESTING: tuple[PeerName, ...] = ("haystack", "llamaindex")
_CORES = 2
# As the peers' documentation has it: Haystack's embedder takes 256 texts at once, LlamaIndex's 10.
_BATCHES: Mapping[PeerName, int] = {"haystack": 256, "llamaindex": 10}
WHOLE_ONLY = "vouch, passages whole only"
_WHOLE_ONLY = """\
default:
  summary: One vector for each passage, as the peers have it.
  ingestion:
    embedder:
      model: sentence-transformers/all-MiniLM-L6-v2
"""
_MOST_TOPIC_CHARACTERS = 12_000
_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class IngestFigures:
    """One system on the same files.

    Attributes:
        texts: That went through the model: the product embeds passages whole and in parts.
        kilobytes_per_second: Of source text; the systems cut it differently.
        again_seconds: The same files once more, unchanged; None where nothing is remembered.
    """

    system: str
    chunks: int
    texts: int
    seconds: float
    texts_per_second: float
    kilobytes_per_second: float
    peak_mb: float
    again_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class IngestionPart:
    """All systems, and a large run without the model.

    Attributes:
        many: Of many documents, vectors out of a hash: what the pipeline itself bears.
    """

    documents: int
    kilobytes: float
    systems: tuple[IngestFigures, ...]
    many: IngestFigures | None
    many_documents: int
    absent: Mapping[str, str]

    def of(self, system: str) -> IngestFigures | None:
        """Return one system's figures."""
        return next((each for each in self.systems if each.system == system), None)

    def ratio_to_raw(self) -> float:
        """Return our texts a second over those of the bare model on the same texts."""
        ours, raw = self.of("vouch"), self.of("bare model")
        return round(ours.texts_per_second / raw.texts_per_second, 3) if ours and raw else 0.0

    def ratios_to_peers(self) -> dict[str, float]:
        """Return by peer how many times more source text we take in a second."""
        return self._ratios("vouch")

    def ratios_for_equal_work(self) -> dict[str, float]:
        """Return the same when we, too, embed each passage but once."""
        return self._ratios(WHOLE_ONLY)

    def _ratios(self, system: str) -> dict[str, float]:
        ours = self.of(system)
        return {
            name: round(ours.kilobytes_per_second / peer.kilobytes_per_second, 2)
            for name in _INGESTING
            if ours and (peer := self.of(name))
        }


async def measure_ingestion(
    scale: Scale, work: Path, *, peers: Sequence[PeerName]
) -> IngestionPart:
    """Ingest the same files with every system, one after the other."""
    files = work / f"files-{scale.documents}"
    kilobytes = _write_files(files, scale.documents)
    systems = [await asyncio.to_thread(_ours, "vouch", files, kilobytes, work, "")]
    systems.append(await asyncio.to_thread(_raw, kilobytes, work))
    profiles = work / "whole.yaml"
    await asyncio.to_thread(profiles.write_text, _WHOLE_ONLY, encoding="utf-8")
    systems.append(
        await asyncio.to_thread(_ours, WHOLE_ONLY, files, kilobytes, work, str(profiles))
    )
    absent: dict[str, str] = {}
    for name in _INGESTING:
        if name not in peers:
            absent[name] = "left out by the caller"
            continue
        try:
            systems.append(await asyncio.to_thread(_of_peer, name, files, kilobytes, work))
        except BenchmarkError as error:
            absent[name] = str(error)
    many = None
    if scale.many_documents:
        many = await asyncio.to_thread(_many, scale.many_documents, work)
    return IngestionPart(
        documents=scale.documents,
        kilobytes=round(kilobytes, 1),
        systems=tuple(systems),
        many=many,
        many_documents=scale.many_documents,
        absent=absent,
    )


def _write_files(folder: Path, documents: int) -> float:
    """Write topics of the Python reference as plain files; returns their kilobytes."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    size = 0
    for place, label in enumerate(islice(cycle(sorted(topics)), documents)):
        # A round through all topics writes other texts: repeated ones would be embedded once.
        text = f"Edition {place // len(topics)}\n\n{topics[label][:_MOST_TOPIC_CHARACTERS]}"
        (folder / f"{label}-{place}.txt").write_text(text, encoding="utf-8")
        size += len(text.encode())
    return size / 1024


def _ours(name: str, files: Path, kilobytes: float, work: Path, profiles: str) -> IngestFigures:
    data_dir = work / "ingest"
    shutil.rmtree(data_dir, ignore_errors=True)
    texts = work / ("ingest-texts.json" if not profiles else "ingest-whole.json")
    order = {
        "do": "ingest",
        "model": "",
        "data_dir": str(data_dir),
        "files": str(files),
        "texts": str(texts),
        "profiles": profiles,
    }
    return _figures(name, _once(order, work), kilobytes)


def _raw(kilobytes: float, work: Path) -> IngestFigures:
    texts = work / "ingest-texts.json"
    order = {"do": "raw", "data_dir": str(work / "ingest"), "texts": str(texts)}
    return _figures("bare model", _once(order, work), kilobytes)


def _many(documents: int, work: Path) -> IngestFigures:
    files, data_dir = work / f"files-{documents}", work / "ingest-many"
    folder = files
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    labels = sorted(topics)
    size = 0
    for place in range(documents):
        first = topics[labels[place % len(labels)]][:1200]
        second = topics[labels[place * 7 % len(labels)]][-900:]
        text = f"Note {place}\n{'=' * 12}\n\n{first}\n\n{second}\n"
        (folder / f"note-{place}.txt").write_text(text, encoding="utf-8")
        size += len(text.encode())
    shutil.rmtree(data_dir, ignore_errors=True)
    order = {
        "do": "ingest",
        "model": "none",
        "data_dir": str(data_dir),
        "files": str(files),
        "texts": str(work / "ingest-many.json"),
    }
    found = _figures("vouch without the model", _once(order, work), size / 1024)
    shutil.rmtree(folder, ignore_errors=True)
    return found


def _of_peer(name: PeerName, files: Path, kilobytes: float, work: Path) -> IngestFigures:
    model_dir = resolve_model(DEFAULT_MODEL, work / "ingest" / "models").directory
    task: dict[str, JsonValue] = {
        "do": "ingest",
        "files": str(files),
        "model_dir": str(model_dir),
        "cores": _CORES,
        "batch": _BATCHES[name],
    }
    found = open_peer(name, work).run(task, work)
    return _figures(name, cast("Mapping[str, float]", found), kilobytes)


def _figures(system: str, found: Mapping[str, float], kilobytes: float) -> IngestFigures:
    again = found.get("again_seconds")
    texts = found.get("texts", found["chunks"])
    return IngestFigures(
        system=system,
        chunks=int(found["chunks"]),
        texts=int(texts),
        seconds=round(found["seconds"], 2),
        texts_per_second=round(texts / found["seconds"], 2),
        kilobytes_per_second=round(kilobytes / found["seconds"], 2),
        peak_mb=round(found["peak_mb"], 1),
        again_seconds=None if again is None else round(again, 3),
    )


def _once(order: Mapping[str, str], work: Path) -> Mapping[str, float]:
    path = work / "ingest.task.json"
    path.write_text(json.dumps(order), encoding="utf-8")
    finished = subprocess.run(  # noqa: S603 - our own interpreter and module
        [sys.executable, "-m", "benchmarks.ingest_once", str(path)],
        env=clean_environment({}),
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    if finished.returncode:
        raise BenchmarkError(f"the ingestion failed: {finished.stderr.strip()[-600:]}")
    return cast("Mapping[str, float]", json.loads(finished.stdout.splitlines()[-1]))
