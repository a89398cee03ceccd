"""The stages of one ask, in order: what every door (JSON, page, server-sent events) consumes.

No event before ``VerdictReached`` carries a word of an answer, and none at all does unless the
verdict let it through.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from backend.contract import AskResponse, GuardView
from knowledge.contracts import SearchHit


@dataclass(frozen=True, slots=True)
class Condensed:
    """The text both branches search for is settled."""

    ask_id: str
    search_question: str


@dataclass(frozen=True, slots=True)
class EvidenceFound:
    """The guard's own search came back."""

    hits: tuple[SearchHit, ...]


@dataclass(frozen=True, slots=True)
class VerdictReached:
    """The evidence was judged."""

    guard: GuardView


@dataclass(frozen=True, slots=True)
class AnswerDrafted:
    """The agent finished; its text is not part of the event."""

    agent_refused: bool
    rounds: int


@dataclass(frozen=True, slots=True)
class Done:
    """The record is stored and this is the response."""

    response: AskResponse


StageEvent: TypeAlias = Condensed | EvidenceFound | VerdictReached | AnswerDrafted | Done
