"""Asks a model whether the evidence holds the answer. It can refuse an answer and never allow one.

The caller runs it after the guard has let the evidence through: its "yes" changes nothing.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from agent.chat import CHARACTERS_PER_TOKEN, ChatModel, Message
from agent.contract import Evidence
from agent.errors import ModelGarbageError, ModelTimeoutError
from agent.loop import Window
from agent.paid import PaidModel
from agent.prompt import new_nonce, pack
from agent.purse import OPEN_PURSE, TokenPurse
from agent.refusal import clean

_RULES = Path(__file__).with_name("sufficiency.md")
_ANSWER_TOKENS = 200
_MISSING_CHARACTERS = 200
_JSON = re.compile(r"\{.*\}", re.DOTALL)
_WORD = re.compile(r"^\W*(yes|no)\b[\s:,.\-]*(.*)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Sufficiency:
    """What the model said.

    Attributes:
        is_sufficient: Whether the passages hold everything the answer needs.
        missing: The fact that is not there, in a few words; empty when nothing is named.
    """

    is_sufficient: bool
    missing: str = ""


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore")

    sufficient: bool
    missing: str = ""


class SufficiencyChecker:
    """The check over any chat model.

    Args:
        model: The endpoint.
        window: What one request may hold.
        seconds: Deadline of one check.
    """

    def __init__(
        self, model: ChatModel, *, window: Window | None = None, seconds: float = 20.0
    ) -> None:
        self._model = model
        self._window = window or Window()
        self._seconds = seconds

    async def check(
        self, question: str, passages: Sequence[str], *, purse: TokenPurse = OPEN_PURSE
    ) -> Sufficiency:
        """Say whether the passages hold the answer to a question.

        Args:
            question: The standalone question.
            passages: Their texts, best first.
            purse: Pays for the call.

        Raises:
            AgentError: The model is down, over time, or says neither yes nor no.
        """
        try:
            async with asyncio.timeout(self._seconds):
                reply = await PaidModel(self._model, purse).complete(
                    self._messages(question, passages), tools=(), answer_tokens=_ANSWER_TOKENS
                )
        except TimeoutError as error:
            raise ModelTimeoutError(
                f"the sufficiency check took longer than {self._seconds:g} seconds"
            ) from error
        return read_reply(reply.text)

    async def close(self) -> None:
        """Close the model's connections."""
        await self._model.close()

    def _messages(self, question: str, passages: Sequence[str]) -> list[Message]:
        nonce = new_nonce()
        rules = _rules().replace("{nonce}", nonce)
        room = (self._window.context_tokens - _ANSWER_TOKENS) * CHARACTERS_PER_TOKEN
        room -= len(rules) + len(question)
        packed = pack(
            [_numbered(place, text) for place, text in enumerate(passages, 1)], nonce, room
        )
        asked = f"{packed.text}\n\nQuestion: {question}\nIs the evidence sufficient? Reply in JSON."
        return [{"role": "system", "content": rules}, {"role": "user", "content": asked}]


def read_reply(text: str) -> Sufficiency:
    """Read a verdict: the JSON asked for, or a plain yes or no of a model that cannot write it.

    Raises:
        ModelGarbageError: It is neither.
    """
    plain = clean(text)
    found = _JSON.search(plain)
    if found:
        try:
            reply = _Reply.model_validate(json.loads(found.group()))
        except (ValidationError, json.JSONDecodeError) as error:
            raise ModelGarbageError("the sufficiency check is no JSON of its shape") from error
        return _verdict(is_sufficient=reply.sufficient, missing=reply.missing)
    word = _WORD.match(plain)
    if not word:
        raise ModelGarbageError("the sufficiency check says neither yes nor no")
    return _verdict(is_sufficient=word.group(1).casefold() == "yes", missing=word.group(2))


def _verdict(*, is_sufficient: bool, missing: str) -> Sufficiency:
    if is_sufficient:
        return Sufficiency(is_sufficient=True)
    return Sufficiency(is_sufficient=False, missing=" ".join(missing.split())[:_MISSING_CHARACTERS])


@lru_cache(maxsize=1)
def _rules() -> str:
    return _RULES.read_text(encoding="utf-8").strip()


def _numbered(number: int, text: str) -> Evidence:
    return Evidence(
        number=number,
        chunk_id="",
        text=text,
        source="",
        source_url="",
        title="",
        section_heading="",
        parent_heading="",
        position=0,
        metadata={},
        cosine=None,
        tool="search_kb",
    )
