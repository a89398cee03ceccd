"""What the reviewer's desk needs of the application, by shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from fastapi import Request

from backend.verdict.guard import Rule
from storage.asks import AskRecord
from storage.labels import LabelledAsk, LabelRecord


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

    async def rule(self) -> Rule:
        """Return the rule the guard follows on the index in force."""
        ...
