from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import cast

import pytest
from typer.testing import CliRunner, Result

from cli.main import app
from ingestion.errors import SourceError
from ingestion.sources import source_from
from retrieval.opening import open_catalog
from retrieval.settings import RetrievalSettings
from retrieval.store import Filter


class Terminal:
    """Runs ``vouch ingest`` on a data folder of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._runner = CliRunner(env={"VOUCH_DATA_DIR": str(root / "data")})

    def write(self, path: str, text: str) -> str:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        return str(place.parent)

    def ingest(self, *arguments: str) -> Result:
        return self._runner.invoke(app, ["ingest", *arguments])

    async def addresses(self) -> set[str]:
        """Return the address of every passage in force."""
        catalog = open_catalog(RetrievalSettings(data_dir=self.root / "data"))
        manifest = await catalog.current()
        assert manifest is not None
        opened = await catalog.open(manifest.build)
        try:
            points = [point async for point in opened.store.scan(where=Filter(all_labels=True))]
        finally:
            await opened.store.close()
            await catalog.close()
        return {point.chunk.occurrences[0].source_url for point in points}


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path)


def test_pattern_base_address_and_removal_reach_the_index(terminal: Terminal) -> None:
    guide = terminal.write("guide/setup.md", "# Setup\n\nUnpack the archive and run it.\n")
    terminal.write("guide/draft.txt", "A draft that nobody should find yet.\n")
    notes = terminal.write("notes/note.md", "# Note\n\nThe server listens on port eight.\n")

    base = ("--base-url", "https://docs.example.org/guide/")
    made = terminal.ingest(guide, "--glob", "*.md", *base, "--json")
    assert made.exit_code == 0, made.output
    report = cast("dict[str, list[dict[str, str]]]", json.loads(made.stdout))
    assert [document["document_id"] for document in report["documents"]] == ["setup.md"]
    assert asyncio.run(terminal.addresses()) == {"https://docs.example.org/guide/setup.md#setup"}

    assert terminal.ingest(notes).exit_code == 0
    assert terminal.ingest("--remove", "guide").exit_code == 0
    assert asyncio.run(terminal.addresses()) == {"file:notes/note.md#note"}

    again = terminal.ingest("--remove", "guide")
    assert again.exit_code != 0
    assert "no source of this name" in again.output


def test_nothing_to_do_is_a_mistake_of_the_caller(terminal: Terminal) -> None:
    assert terminal.ingest().exit_code == 2


def test_options_that_cannot_apply_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("# A")
    with pytest.raises(SourceError, match="only a folder"):
        source_from(str(file), glob="*.md")
    with pytest.raises(SourceError, match="address of its own"):
        source_from("https://docs.example.org/a", base_url="https://docs.example.org")
    with pytest.raises(SourceError):
        source_from(str(file), base_url="javascript:alert(1)")
