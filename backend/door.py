"""The application as the pages see it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from datetime import datetime

from fastapi import FastAPI, Request
from pydantic import ValidationError

from backend.caller import Caller
from backend.contract import AskRequest, AskResponse
from backend.errors import UnknownAskError
from backend.events import StageEvent
from backend.pages.ports import Holdings, Spread
from backend.services import Services, identify
from backend.verdict.calibration_artefact import CalibrationArtefact
from knowledge.contracts import Source
from knowledge.tools import KnowledgeTools
from service.logs import get_logger
from service.tokens import Claims
from storage.ask_search import AskFilter, AskSearch
from storage.asks import AskRecord, AskStore
from storage.calibrations import CalibrationStore
from storage.errors import StorageError
from storage.feedback import FeedbackRecord, FeedbackStore

_MOST_TURNS = 50
_logger = get_logger(__name__)


class PageDoor:
    """``PageServices`` over the services that the application opens at its start.

    Args:
        app: Its state holds the services once it runs.
    """

    def __init__(self, app: FastAPI) -> None:
        self._app = app

    def ask(self, body: AskRequest, request: Request) -> AsyncGenerator[StageEvent]:
        """Ask in the name of whoever sent the request."""
        return self._services.ask(body, request)

    async def find(self, ask_id: str, request: Request) -> AskResponse | None:
        """Return a recorded answer that the sender of the request may see, or None."""
        return await self._services.find(ask_id, request)

    async def earlier_turns(self, response: AskResponse, request: Request) -> Sequence[AskRecord]:
        """Return the sender's own asks of the same conversation before this one, oldest first."""
        if not response.conversation_id:
            return ()
        caller = identify(request)
        try:
            found = await AskStore(self._services.database).conversation(
                response.conversation_id, caller=caller.name, limit=_MOST_TURNS
            )
        except StorageError as error:
            _logger.warning("no earlier turns to show", detail=str(error))
            return ()
        asked_at = datetime.fromisoformat(response.created_at)
        return [one for one in found if one.id != response.id and one.created_at <= asked_at]

    async def holdings(self, request: Request) -> Holdings:
        """Return what of the index the sender may see, its first page of sections with it."""
        page = await self._tools(identify(request)).list_sections()
        return Holdings(sources=page.sources, sections=page.sections)

    async def spread(self) -> Spread | None:
        """Return how labelled questions are spread, or None without a readable calibration."""
        try:
            record = await CalibrationStore(self._services.database).in_force()
            if record is None:
                return None
            artefact = CalibrationArtefact.model_validate(record.artefact)
        except (StorageError, ValidationError) as error:
            _logger.warning("no spread to draw", detail=str(error))
            return None
        found = next((one for one in artefact.distributions if one.name == "best_cosine"), None)
        if found is None:
            return None
        return Spread(
            name=artefact.name,
            embedding_model=artefact.stamp.embedding_model,
            answerable=found.answerable,
            unanswerable=found.unanswerable,
        )

    async def passage(self, chunk_id: str, request: Request) -> Source:
        """Return one chunk with its neighbours' ids, if the sender may see it."""
        return await self._tools(identify(request)).get_source(chunk_id)

    async def history(
        self, wanted: AskFilter, *, limit: int, request: Request
    ) -> Sequence[AskRecord]:
        """Return the newest records that the sender may see and that pass a filter."""
        may_read = identify(request).may_read
        search = AskSearch(self._services.database)
        return await search.find(wanted, limit=limit, may_read=may_read)

    async def record(self, ask_id: str, request: Request) -> AskRecord | None:
        """Return everything recorded of an ask that the sender may see, or None."""
        try:
            return await self._services.recorder.find(ask_id, identify(request))
        except UnknownAskError:
            return None

    async def models(self) -> Sequence[str]:
        """Return the names of all models that answered."""
        return await AskSearch(self._services.database).models()

    async def thumbs(self, ask_ids: Collection[str]) -> Mapping[str, str]:
        """Return the newest thumb of each of these asks, ``up`` or ``down``."""
        newest = await FeedbackStore(self._services.database).newest(ask_ids)
        return {ask_id: feedback.thumb for ask_id, feedback in newest.items()}

    async def keep_feedback(
        self, ask_id: str, *, thumb: str, reason: str, comment: str, request: Request
    ) -> bool:
        """Keep a thumb; False when there is no such ask that the sender may see."""
        if await self.record(ask_id, request) is None:
            return False
        feedback = FeedbackRecord(
            ask_id=ask_id,
            caller=identify(request).name,
            thumb=thumb,
            reason=reason,
            comment=comment,
        )
        return await FeedbackStore(self._services.database).save(feedback)

    @property
    def _services(self) -> Services:
        services: Services = self._app.state.services
        return services

    def _tools(self, caller: Caller) -> KnowledgeTools:
        return self._services.knowledge.bind(direct_claims(caller))


def direct_claims(caller: Caller) -> Claims:
    """Return what the token of a call outside an ask says."""
    return Claims(
        ask_id="",
        branch="direct",
        scopes=("search",),
        labels=caller.labels,
        # Whose searches they are, so that they can be deleted with everything else of a key.
        subject=caller.name if caller.has_key else "",
    )
