"""Turns what a person typed into what is searched for, with the conversation before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from agent.parts import split_parts
from backend.asking.condense import Turn, condense, name_subject
from backend.asking.ports import Knowledge, SettledQuestion
from backend.caller import Caller
from backend.contract import AskRequest, AskResponse
from service.tokens import Claims
from storage.asks import AskRecord

_LONGEST_MEMORY_TURNS = 20


class Conversations(Protocol):
    """Finds what was asked before."""

    async def conversation(
        self, conversation_id: str, *, caller: str, limit: int
    ) -> Sequence[AskRecord]:
        """Return the last asks of one caller's conversation, oldest first."""
        ...


class ConversationSettler:
    """Condenses follow-ups, and splits a question that asks several things into its parts.

    Args:
        conversations: Earlier questions.
        knowledge: Asked for the name of the only source when a question names no subject.
    """

    def __init__(self, conversations: Conversations, knowledge: Knowledge) -> None:
        self._conversations = conversations
        self._knowledge = knowledge

    async def settle(self, request: AskRequest, caller: Caller) -> SettledQuestion:
        """Return the standalone question and its parts.

        Raises:
            StorageError: Earlier questions cannot be read.
            KnowledgeError: The sources cannot be listed.
        """
        if request.search_question:
            return _settle(request.search_question)
        found = condense(request.question, await self._turns(request, caller))
        if found.way == "typed":
            return _settle(found.search_question)
        if found.way == "carried":
            return SettledQuestion(found.search_question, (found.search_question,))
        subject = request.source or await self._only_source(caller)
        if subject:
            named = name_subject(request.question, subject)
            return SettledQuestion(named, (named,))
        return SettledQuestion(request.question, (request.question,), is_vague=True)

    async def _turns(self, request: AskRequest, caller: Caller) -> list[Turn]:
        if request.earlier:
            return [Turn(question) for question in request.earlier]
        if not request.conversation_id:
            return []
        records = await self._conversations.conversation(
            request.conversation_id, caller=caller.name, limit=_LONGEST_MEMORY_TURNS
        )
        return [_turn(record) for record in records if caller.may_read(record.labels)]

    async def _only_source(self, caller: Caller) -> str:
        """Return the name of the source when there is but one, else nothing."""
        claims = Claims(ask_id="", branch="direct", scopes=("search",), labels=caller.labels)
        sources = (await self._knowledge.bind(claims).list_sections()).sources
        return next(iter(sources)) if len(sources) == 1 else ""


def _settle(text: str) -> SettledQuestion:
    return SettledQuestion(search_question=text, parts=split_parts(text))


def _turn(record: AskRecord) -> Turn:
    response = AskResponse.model_validate(record.response)
    headings = (citation.section_heading for citation in response.citations)
    return Turn(
        question=record.question,
        search_question=record.search_question,
        offered=response.proposals or tuple(dict.fromkeys(filter(None, headings))),
        has_asked_back=response.status == "needs_clarification",
    )
