"""What the reviewer's desk works with, over the services of the application."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime

from fastapi import FastAPI, Request
from pydantic import ValidationError

from backend.desk.ports import KeptCalibration
from backend.desk.report_shelf import ReportCard, ReportShelf
from backend.errors import UnknownAskError
from backend.intake.contract import BuildView
from backend.intake.desk import DeskRules, IngestionDesk
from backend.services import Services, identify
from backend.verdict.calibration_artefact import CalibrationArtefact
from backend.verdict.rules import RuleInForce
from service.logs import get_logger
from storage.ask_figures import AskFigures, read_figures
from storage.ask_search import AskFilter, AskSearch
from storage.asks import AskRecord
from storage.calibrations import CalibrationStore
from storage.labels import LabelledAsk, LabelRecord, LabelStore

MOST_RECORDS = 300
_EMBED_BATCH = 32
_MOST_FIGURES = 50_000
_logger = get_logger(__name__)


class Desk:
    """``DeskServices`` over the services that the application opens at its start.

    Args:
        app: Its state holds the services once it runs.
        shelf: Reports of evaluations and calibrations.
    """

    def __init__(self, app: FastAPI, shelf: ReportShelf) -> None:
        self._app = app
        self._shelf = shelf

    async def label_of(self, ask_id: str) -> LabelRecord | None:
        """Return the label of an ask, or None."""
        return await LabelStore(self._services.database).find(ask_id)

    async def keep_label(self, ask_id: str, *, label: str, comment: str, request: Request) -> bool:
        """Keep a label; False when there is no such ask that the sender may see."""
        caller = identify(request)
        try:
            await self._services.recorder.find(ask_id, caller)
        except UnknownAskError:
            return False
        record = LabelRecord(ask_id=ask_id, label=label, comment=comment, reviewer=caller.name)
        return await LabelStore(self._services.database).save(record)

    async def labelled(self, request: Request) -> Sequence[LabelledAsk]:
        """Return labelled asks that the sender may see, the last labelled first."""
        caller = identify(request)
        found = await LabelStore(self._services.database).labelled(limit=MOST_RECORDS)
        return [one for one in found if caller.may_read(one.record.labels)]

    async def recorded(self, status: str, request: Request) -> Sequence[AskRecord]:
        """Return the newest asks of a status that the sender may see; empty means any status."""
        caller = identify(request)
        wanted = AskFilter(status=status)
        records = await AskSearch(self._services.database).find(wanted, limit=MOST_RECORDS)
        return [record for record in records if caller.may_read(record.labels)]

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return unit vectors of texts by the model of the index."""
        vectors: list[Sequence[float]] = []
        for start in range(0, len(texts), _EMBED_BATCH):
            found = await self._services.knowledge.embed(texts[start : start + _EMBED_BATCH])
            vectors += found.vectors
        return vectors

    async def rule(self) -> RuleInForce:
        """Return the rule the guard follows on the index in force."""
        index = await self._services.index.current()
        return await self._services.rules.rule_for(index)

    async def calibrations(self) -> Sequence[KeptCalibration]:
        """Return every kept calibration that this version understands, newest first."""
        kept: list[KeptCalibration] = []
        for record in await CalibrationStore(self._services.database).all():
            try:
                artefact = CalibrationArtefact.model_validate(record.artefact)
            except ValidationError as error:
                _logger.warning("a calibration is left out", id=record.id, detail=str(error))
                continue
            kept.append(KeptCalibration(record.id, record.created_at, record.is_active, artefact))
        return kept

    async def figures(self, since: datetime, request: Request) -> Sequence[AskFigures]:
        """Return the figures of recorded asks that the sender may see, newest first."""
        return await read_figures(
            self._services.database,
            since=since,
            limit=_MOST_FIGURES,
            may_read=identify(request).may_read,
        )

    async def builds(self) -> Sequence[BuildView]:
        """Return every complete build, newest first."""
        rules: DeskRules = self._app.state.desk_rules
        return await IngestionDesk(self._services.database, rules).builds()

    async def reports(self) -> Sequence[ReportCard]:
        """Return the reports of evaluations and calibrations, newest first."""
        return await asyncio.to_thread(self._shelf.cards)

    async def report(self, name: str) -> str | None:
        """Return a report as HTML, or None when there is none of that name."""
        return await asyncio.to_thread(self._shelf.page, name)

    @property
    def _services(self) -> Services:
        services: Services = self._app.state.services
        return services
