"""Packs what an agent is about to read: no repetitions, and no more than there is room for.

The tool server does the work, by the code its context tools use. Nothing is left out when a quote
from the passages would change by it, and a server that cannot pack costs nothing but the packing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from agent.capture import CapturingTools
from agent.contract import AgentTask, Evidence, Packing, PackingStatus
from agent.quoting import quote
from agent.selection import select
from knowledge.errors import KnowledgeError
from knowledge.packing import FittedPassage, FittedPassages
from service.tokens import Claims

UNAVAILABLE = "packing_unavailable"

# Characters a token differ from text to text: aimed a little low, so that nothing is cut again.
_AIM = 0.95


class Packer(Protocol):
    """Fits passages to their reader, where the index and its model are."""

    async def fit_evidence(
        self,
        query: str,
        chunk_ids: Sequence[str],
        claims: Claims,
        *,
        known_ids: Sequence[str] = (),
        share: float = 1.0,
        budget_tokens: int = 0,
    ) -> FittedPassages:
        """Return what of some passages fits, repetitions left out.

        Raises:
            KnowledgeError: It cannot be done.
        """
        ...


@dataclass(frozen=True, slots=True)
class PackingRules:
    """How evidence is packed.

    Attributes:
        packer: Does the work.
        budget_tokens: Tokens of one search's passages; 0: what the model's context has room for.
    """

    packer: Packer
    budget_tokens: int = 0


class EvidencePacking:
    """The packings of one ask.

    Args:
        rules: How; None packs nothing.
        task: What the evidence is for, and what its asker may see.
        tools: Holds the evidence.
    """

    def __init__(self, rules: PackingRules | None, task: AgentTask, tools: CapturingTools) -> None:
        self._rules = rules
        self._task = task
        self._tools = tools
        self.done: list[Packing] = []

    @property
    def degraded(self) -> tuple[str, ...]:
        """Name of what fell back, if anything did."""
        failed = any(each.status == "unavailable" for each in self.done)
        return (UNAVAILABLE,) if failed else ()

    async def fit(self, fresh: Sequence[Evidence], room_characters: int | None) -> None:
        """Leave out of new passages what repeats others or has no room.

        Args:
            fresh: Passages the agent has not seen.
            room_characters: What they may have together; None: no bound.
        """
        rules, claims = self._rules, self._task.claims
        length = sum(len(each.text) for each in fresh)
        room = length if room_characters is None else max(1, room_characters)
        known = [each for each in self._tools.evidence if each.text and each not in fresh]
        # A token has at least one character.
        is_large = length > room or 0 < (rules.budget_tokens if rules else 0) < length
        if rules is None or claims is None or not fresh or not (is_large or known):
            return
        try:
            fitted = await rules.packer.fit_evidence(
                self._task.search_question,
                [each.chunk_id for each in fresh],
                claims,
                known_ids=[each.chunk_id for each in known],
                share=1.0 if length <= room else _AIM * room / length,
                budget_tokens=rules.budget_tokens,
            )
        except KnowledgeError as error:
            self._note("unavailable", error=error.code)
            return
        await self._apply(fresh, fitted)

    async def _apply(self, fresh: Sequence[Evidence], fitted: FittedPassages) -> None:
        given = {each.chunk_id: each for each in fitted.passages}
        if any(each.chunk_id not in given for each in fresh):
            self._note("unavailable", error="passages_missing")
            return
        if all(given[each.chunk_id].text == each.text for each in fresh):
            self._note("not_needed", fitted)
            return
        everything = self._tools.evidence
        packed = tuple(
            replace(each, text=given[each.chunk_id].text) if each in fresh else each
            for each in everything
        )
        if not any(each.text for each in packed) or await self._changes(everything, packed):
            self._note("kept_whole", fitted)
            return
        for each in fresh:
            passage = given[each.chunk_id]
            self._tools.give(each.chunk_id, passage.text, _kept(passage))
        self._note("applied", fitted)

    async def _changes(self, whole: Sequence[Evidence], packed: Sequence[Evidence]) -> bool:
        """Whether what is quoted for the question, and from where, differs between the two."""
        question = self._task.search_question
        before, after = await asyncio.to_thread(
            lambda: (select(question, whole).chosen, select(question, packed).chosen)
        )
        return quote(before) != quote(after)

    def _note(
        self, status: PackingStatus, fitted: FittedPassages | None = None, *, error: str = ""
    ) -> None:
        self.done.append(Packing(self._task.search_question, status, fitted, error))


def _kept(passage: FittedPassage) -> tuple[tuple[int, int], ...]:
    return tuple((each.start, each.end) for each in passage.kept)
