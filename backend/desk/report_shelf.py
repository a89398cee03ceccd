"""The reports that evaluations and calibrations left in the data folder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from pydantic import AwareDatetime, BaseModel, ConfigDict, JsonValue, ValidationError

from service.logs import get_logger

FOLDER = "reports"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,120}\Z")
_LARGEST_BYTES = 8 * 1024 * 1024
_MOST_REPORTS = 100
_logger = get_logger(__name__)


class ReportCard(BaseModel):
    """What stands beside a report, for a list of them.

    Attributes:
        name: File name without its ending.
        summary: The figures, as ``--json`` prints them.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str
    title: str
    created_at: AwareDatetime
    summary: dict[str, JsonValue]

    @property
    def figures(self) -> tuple[tuple[str, float], ...]:
        """The plain numbers among the figures, by name."""
        return tuple(
            (name.replace("_", " "), float(value))
            for name, value in self.summary.items()
            if isinstance(value, int | float) and not isinstance(value, bool)
        )


class ReportShelf:
    """Lists and opens reports. Its methods read files: call them off the event loop.

    Args:
        folder: Where reports are; may be missing.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def cards(self) -> Sequence[ReportCard]:
        """Return what is there, newest first; what cannot be read is left out and logged."""
        if not self._folder.is_dir():
            return ()
        found = [card for path in self._folder.glob("*.json") if (card := self._read(path))]
        return sorted(found, key=lambda card: card.created_at, reverse=True)[:_MOST_REPORTS]

    def page(self, name: str) -> str | None:
        """Return the HTML of a report by its name, or None when there is none."""
        path = self._folder / f"{name}.html"
        if not _NAME.match(name) or path.is_symlink() or not path.is_file():
            return None
        if path.stat().st_size > _LARGEST_BYTES:
            return None
        return path.read_text(encoding="utf-8")

    def _read(self, path: Path) -> ReportCard | None:
        try:
            card = ReportCard.model_validate_json(path.read_bytes())
        except (OSError, ValidationError) as error:
            _logger.warning("a report card cannot be read", path=path.name, detail=str(error))
            return None
        return card if card.name == path.stem and self.page(card.name) else None
