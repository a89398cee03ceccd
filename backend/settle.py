"""Turns what a person typed into what is searched for."""

from __future__ import annotations

from backend.caller import Caller
from backend.ports import SettledQuestion


class VerbatimSettler:
    """Searches for exactly what was typed, as one part."""

    async def settle(
        self, question: str, conversation_id: str | None, caller: Caller
    ) -> SettledQuestion:
        """Return the question as it is."""
        del conversation_id, caller
        return SettledQuestion(search_question=question, parts=(question,))
