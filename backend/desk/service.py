"""What the reviewer's desk works with, over the services of the application."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import FastAPI, Request

from backend.errors import UnknownAskError
from backend.services import Services, identify
from backend.verdict.guard import Rule
from storage.ask_search import AskFilter, AskSearch
from storage.asks import AskRecord
from storage.labels import LabelledAsk, LabelRecord, LabelStore

MOST_RECORDS = 300
_EMBED_BATCH = 32


class Desk:
    """``DeskServices`` over the services that the application opens at its start.

    Args:
        app: Its state holds the services once it runs.
    """

    def __init__(self, app: FastAPI) -> None:
        self._app = app

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

    async def rule(self) -> Rule:
        """Return the rule the guard follows on the index in force."""
        index = await self._services.index.current()
        return (await self._services.rules.rule_for(index)).rule

    @property
    def _services(self) -> Services:
        services: Services = self._app.state.services
        return services
