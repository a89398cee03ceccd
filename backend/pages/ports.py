"""What the pages need from the application; whoever composes it hands it over by this shape."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from fastapi import Request

from backend.contract import AskRequest, AskResponse
from backend.events import StageEvent
from knowledge.contracts import Section, Source
from storage.ask_search import AskFilter
from storage.asks import AskRecord


@dataclass(frozen=True, slots=True)
class Holdings:
    """What the index holds.

    Attributes:
        sources: Chunks of each source, by name.
        sections: Some of its sections, for example questions.
    """

    sources: Mapping[str, int]
    sections: Sequence[Section] = ()


@dataclass(frozen=True, slots=True)
class Spread:
    """How the best cosine was spread over the labelled questions of the calibration in force.

    Attributes:
        name: Of the calibration.
        embedding_model: The only one whose cosines compare with these.
        answerable: Quantiles in even steps, lowest first.
        unanswerable: Likewise.
    """

    name: str
    embedding_model: str
    answerable: Sequence[float]
    unanswerable: Sequence[float]


class PageServices(Protocol):
    """The application as the pages see it; every method raises ``VouchError`` and subclasses."""

    def ask(self, body: AskRequest, request: Request) -> AsyncGenerator[StageEvent]:
        """Ask in the name of whoever sent the request."""
        ...

    async def find(self, ask_id: str, request: Request) -> AskResponse | None:
        """Return a recorded answer that the sender of the request may see, or None."""
        ...

    async def earlier_turns(self, response: AskResponse, request: Request) -> Sequence[AskRecord]:
        """Return the sender's own asks of the same conversation before this one, oldest first."""
        ...

    async def holdings(self, request: Request) -> Holdings:
        """Return what of the index the sender may see."""
        ...

    async def spread(self) -> Spread | None:
        """Return how labelled questions are spread, or None without a calibration."""
        ...

    async def passage(self, chunk_id: str, request: Request) -> Source:
        """Return one chunk with its neighbours' ids, if the sender may see it."""
        ...

    async def history(
        self, wanted: AskFilter, *, limit: int, request: Request
    ) -> Sequence[AskRecord]:
        """Return the newest records that the sender may see and that pass a filter."""
        ...

    async def record(self, ask_id: str, request: Request) -> AskRecord | None:
        """Return everything recorded of an ask that the sender may see, or None."""
        ...

    async def models(self) -> Sequence[str]:
        """Return the names of all models that answered."""
        ...

    async def thumbs(self, ask_ids: Collection[str]) -> Mapping[str, str]:
        """Return the newest thumb of each of these asks, ``up`` or ``down``."""
        ...

    async def keep_feedback(
        self, ask_id: str, *, thumb: str, reason: str, comment: str, request: Request
    ) -> bool:
        """Keep a thumb; False when there is no such ask that the sender may see."""
        ...
