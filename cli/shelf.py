"""Where reports go: the folder that was named, else the data folder, which `/quality` shows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

from pydantic import JsonValue

from backend.desk.report_shelf import FOLDER
from evals.entry import Written
from ingestion.settings import IngestionSettings

_TITLE_MARK = "# "


def shelf(named: Path | None) -> Path | None:
    """Return the folder for reports; None where nothing is installed to draw them with."""
    if named is None and find_spec("matplotlib") is None:
        return None
    return named or IngestionSettings().data_dir / FOLDER


def put_card(written: Written | None, summary: Mapping[str, JsonValue]) -> None:
    """Write a report's title, time and figures beside it, for a list of reports."""
    if written is None:
        return
    title = written.markdown.read_text(encoding="utf-8").partition("\n")[0]
    card = {
        "name": written.html.stem,
        "title": title.removeprefix(_TITLE_MARK),
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "summary": dict(summary),
    }
    text = json.dumps(card, ensure_ascii=False, indent=2)
    written.html.with_suffix(".json").write_text(f"{text}\n", encoding="utf-8")
