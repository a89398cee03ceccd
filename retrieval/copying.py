"""A copy of an embedded build, for whoever wants to read one that another process serves.

An embedded build belongs to the process that serves it. A published build never changes, so a copy
of it is as good as itself and takes nothing from the server.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from retrieval.settings import RetrievalSettings


def copy_build(settings: RetrievalSettings, build: str, target: Path) -> None:
    """Copy one build and make it the one in force there; copies of others are removed.

    Args:
        settings: Where the build is.
        build: Its name.
        target: Data folder of the copy.
    """
    collection = Path("collections") / settings.collection
    builds = target / collection / "builds"
    if builds.is_dir():
        for other in builds.iterdir():
            if other.name != build:
                shutil.rmtree(other, ignore_errors=True)
    if not (builds / build / "manifest.json").is_file():
        shutil.rmtree(builds / build, ignore_errors=True)
        shutil.copytree(settings.data_dir / collection / "builds" / build, builds / build)
    (target / collection / "current").write_text(f"{build}\n", encoding="ascii")
