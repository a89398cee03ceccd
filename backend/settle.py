"""Turns what a person typed into what is searched for."""

from __future__ import annotations

from agent.parts import split_parts
from backend.caller import Caller
from backend.ports import SettledQuestion


class PartsSettler:
    """Searches for what was typed; a question that asks several things is searched part by part."""

    async def settle(
        self, question: str, conversation_id: str | None, caller: Caller
    ) -> SettledQuestion:
        """Return the question as it is, with its parts."""
        del conversation_id, caller
        return SettledQuestion(search_question=question, parts=split_parts(question))
