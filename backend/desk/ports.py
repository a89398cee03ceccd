"""What the reviewer's desk needs of the application, by shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from fastapi import Request

from backend.desk.report_shelf import ReportCard
from backend.intake.contract import BuildView
from backend.verdict.calibration_artefact import CalibrationArtefact
from backend.verdict.rules import RuleInForce
from storage.ask_figures import AskFigures
from storage.asks import AskRecord
from storage.labels import LabelledAsk, LabelRecord


@dataclass(frozen=True, slots=True)
class KeptCalibration:
    """A calibration as it is kept.

    Attributes:
        id: Digest of the artefact.
        kept_at: Aware; when it was last put in force.
        is_active: False once it was withdrawn.
    """

    id: str
    kept_at: datetime
    is_active: bool
    artefact: CalibrationArtefact


class DeskServices(Protocol):
    """The application as a reviewer sees it; every method raises ``VouchError`` and subclasses."""

    async def label_of(self, ask_id: str) -> LabelRecord | None:
        """Return the label of an ask, or None."""
        ...

    async def keep_label(self, ask_id: str, *, label: str, comment: str, request: Request) -> bool:
        """Keep a label; False when there is no such ask that the sender may see."""
        ...

    async def labelled(self, request: Request) -> Sequence[LabelledAsk]:
        """Return labelled asks that the sender may see, the last labelled first."""
        ...

    async def recorded(self, status: str, request: Request) -> Sequence[AskRecord]:
        """Return the newest asks of a status that the sender may see; empty means any status."""
        ...

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return unit vectors of texts by the model of the index."""
        ...

    async def rule(self) -> RuleInForce:
        """Return the rule the guard follows on the index in force."""
        ...

    async def calibrations(self) -> Sequence[KeptCalibration]:
        """Return every kept calibration that this version understands, newest first."""
        ...

    async def figures(self, since: datetime, request: Request) -> Sequence[AskFigures]:
        """Return the figures of recorded asks that the sender may see, newest first."""
        ...

    async def builds(self) -> Sequence[BuildView]:
        """Return every complete build, newest first."""
        ...

    async def reports(self) -> Sequence[ReportCard]:
        """Return the reports of evaluations and calibrations, newest first."""
        ...

    async def report(self, name: str) -> str | None:
        """Return a report as HTML, or None when there is none of that name."""
        ...
