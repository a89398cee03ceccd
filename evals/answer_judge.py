"""A model's opinion on whether an answer says what the reference says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Protocol

from agent.chat import ChatModel
from agent.errors import AgentError
from evals.sets import Question

_PROMPT = Path(__file__).with_suffix(".md")
_ANSWER_TOKENS = 8
_VERDICT = re.compile(r"\b(correct|wrong|incorrect)\b", re.IGNORECASE)


class Judge(Protocol):
    """Judges answers."""

    async def is_correct(self, question: Question, answer: str) -> bool | None:
        """Return the verdict; None when there is no reference or no clear one."""
        ...


class ModelJudge:
    """Asks a chat model; its figures are comparable only for the same model.

    Args:
        model: Closed by its owner.
    """

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self._prompt = _PROMPT.read_text(encoding="utf-8")

    async def is_correct(self, question: Question, answer: str) -> bool | None:
        """Return the verdict; None without a reference, a clear verdict, or an answering model."""
        if not question.answer:
            return None
        content = (
            self._prompt.replace("{question}", question.question)
            .replace("{reference}", question.answer)
            .replace("{answer}", answer)
        )
        try:
            reply = await self._model.complete(
                [{"role": "user", "content": content}], tools=(), answer_tokens=_ANSWER_TOKENS
            )
        except AgentError:
            return None
        verdict = _VERDICT.search(reply.text)
        return None if verdict is None else verdict[1].casefold() == "correct"
