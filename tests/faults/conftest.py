"""An installation of its own for each test, because these tests break it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.installation import Installation


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with databases and an index, to be copied."""
    folder = tmp_path_factory.mktemp("prepared")
    Installation(folder).prepare()
    return folder


@pytest.fixture
def broken(prepared: Path, tmp_path: Path) -> Iterator[Installation]:
    """An installation that may be broken; nothing is started."""
    folder = tmp_path / "installation"
    shutil.copytree(prepared, folder)
    made = Installation(folder)
    yield made
    made.mcp.stop()
