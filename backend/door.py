"""The application as the pages see it."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from fastapi import FastAPI, Request

from backend.caller import Caller
from backend.contract import AskRequest, AskResponse
from backend.events import StageEvent
from backend.pages_ports import Holdings
from backend.services import Services, identify
from knowledge.contracts import Source
from knowledge.tools import KnowledgeTools
from service.tokens import Claims


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

    async def holdings(self) -> Holdings:
        """Return what the index holds, its first page of sections with it."""
        page = await self._tools(Caller(name="page")).list_sections()
        return Holdings(sources=page.sources, sections=page.sections)

    async def passage(self, chunk_id: str, request: Request) -> Source:
        """Return one chunk with its neighbours' ids, if the sender may see it."""
        return await self._tools(identify(request)).get_source(chunk_id)

    @property
    def _services(self) -> Services:
        services: Services = self._app.state.services
        return services

    def _tools(self, caller: Caller) -> KnowledgeTools:
        return self._services.knowledge.bind(direct_claims(caller))


def direct_claims(caller: Caller) -> Claims:
    """Return what the token of a call outside an ask says."""
    return Claims(ask_id="", branch="direct", scopes=("search",), labels=caller.labels)
