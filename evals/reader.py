"""A stand-in for a small model: it reads what is put before it and nothing else.

It answers with the sentence of the evidence that shares most with the question, and cites it.
Unlike the extractive agent it sees the sealed blocks of a prompt, so that whatever packing cut away
is gone for it; unlike a real model it says the same every time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.chat import CHARACTERS_PER_TOKEN, ChatReply, Message, ToolSpec, estimate_tokens
from agent.contract import TokenUsage
from agent.words import question_terms, terms
from prose.sentences import split_sentences

_BLOCK = re.compile(r"BEGIN EVIDENCE \[(\d+)\] (\w+)\n(.*?)\nEND EVIDENCE \[\1\] \2", re.DOTALL)
_QUESTION = re.compile(r"Question: (.*)")


class Reader:
    """A chat model that quotes the nearest sentence; the first of several alike."""

    @property
    def name(self) -> str:
        """Name of the method."""
        return "reader"

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[ToolSpec],  # noqa: ARG002 - it calls none
        answer_tokens: int,
    ) -> ChatReply:
        """Answer from the last message."""
        text = str(messages[-1].get("content") or "")
        asked = _QUESTION.findall(text)
        wanted = frozenset(question_terms(asked[-1])) if asked else frozenset[str]()
        said = "\n".join(f"{sentence} [{number}]" for number, sentence in _nearest(text, wanted))
        said = said[: answer_tokens * CHARACTERS_PER_TOKEN]
        characters = sum(len(str(message.get("content") or "")) for message in messages)
        return ChatReply(
            said, (), TokenUsage(estimate_tokens(characters), estimate_tokens(len(said)))
        )

    async def close(self) -> None:
        """Hold nothing open."""


def _nearest(text: str, wanted: frozenset[str]) -> list[tuple[str, str]]:
    best: tuple[float, str, str] = (0.0, "", "")
    for number, _, block in _BLOCK.findall(text):
        _, _, body = block.partition("\n")
        for sentence in split_sentences(body):
            words = terms(sentence.text)
            shared = len(words & wanted) / (1 + len(words) ** 0.5)
            if shared > best[0]:
                best = (shared, number, " ".join(sentence.text.split()))
    return [(best[1], best[2])] if best[0] else []
