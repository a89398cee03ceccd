"""What a figure was measured on: without it no figure means anything."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_PACKAGES = ("onnxruntime", "fastembed", "qdrant-edge-py", "mcp", "fastapi", "pydantic", "numpy")


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine, its load when the run began, and the versions that were measured.

    Attributes:
        memory_gb: Of the whole machine.
        load: Processes that ran or waited, mean of the minute before.
    """

    processor: str
    cores: int
    memory_gb: float
    system: str
    python: str
    load: float
    versions: dict[str, str]


def describe_machine() -> Machine:
    """Return where and with what this process runs."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return Machine(
        processor=_processor(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else _cores(),
        memory_gb=round(pages / 2**30, 1),
        system=f"{platform.system()} {platform.machine()}",
        python=platform.python_version(),
        load=round(os.getloadavg()[0], 2),
        versions={name: _version(name) for name in _PACKAGES},
    )


def _cores() -> int:
    return os.cpu_count() or 1


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if not info.is_file():
        return platform.processor() or "unknown"
    fields: dict[str, str] = {}
    for line in info.read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition(":")
        fields[name.strip()] = value.strip()
    wide = " with AVX-512" if "avx512f" in fields.get("flags", "") else ""
    return fields.get("model name", "unknown") + wide
