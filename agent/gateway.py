"""The agent behind a gateway: an endpoint that runs its own tool loop against our tool server.

What the gateway's model read is not ours to capture, so the evidence is what the tool server's
audit says it was given: by the token of this ask, or, for a gateway that knows only one fixed
token, by that token and the time of the ask. An answer without a recorded search rests on nothing.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from agent.chat import ChatReply, estimate_tokens
from agent.contract import (
    AgentKind,
    AgentOutcome,
    AgentTask,
    Evidence,
    ToolCall,
)
from agent.errors import ModelTimeoutError
from agent.gateway_ports import GatewayKnowledge, GatewayModel, GatewaySettings, ToolServer
from agent.paid import PaidModel, pay
from agent.prompt import gateway_rules
from agent.refusal import clean, is_refusal, take_not_found
from knowledge.contracts import AuditRow, Source
from knowledge.tools import KnowledgeTools
from service.tokens import Claims

TEXT_TOOLS = frozenset({"search_kb", "get_source", "get_related"})
GATEWAY_CALLER = "gateway"
AMBIGUOUS = "evidence_ambiguous"
_CITED_ID = re.compile(
    r"\[\s*(?:chunk_id:\s*)?([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})\s*\]"
)
_NUMBER = re.compile(r"[ \t]?\[\d+(?:\s*,\s*\d+)*\]")


class GatewayAgent:
    """Sends the question to a gateway and takes the evidence from the audit.

    Args:
        model: The gateway's endpoint.
        knowledge: Signs the ask's token and reads the audit.
        settings: How the gateway is asked.
        abstention_sentence: The fixed sentence of a refusal.
    """

    def __init__(
        self,
        model: GatewayModel,
        knowledge: GatewayKnowledge,
        settings: GatewaySettings,
        *,
        abstention_sentence: str,
    ) -> None:
        self._model = model
        self._knowledge = knowledge
        self._settings = settings
        self._abstention_sentence = abstention_sentence
        self._turn = asyncio.Lock()

    @property
    def kind(self) -> AgentKind:
        """Always ``gateway``."""
        return "gateway"

    @property
    def model(self) -> str:
        """Name of the gateway's model."""
        return self._model.name

    async def close(self) -> None:
        """Close the gateway's connections."""
        await self._model.close()

    async def answer(self, task: AgentTask, tools: KnowledgeTools) -> AgentOutcome:
        """Ask the gateway, then read what it was given.

        Raises:
            AgentError: The gateway is down, over time or speaks garbage.
            KnowledgeError: The audit or a passage cannot be read.
        """
        del tools
        claims = task.claims or Claims(ask_id=task.ask_id, branch="gateway", scopes=("search",))
        claims = replace(claims, branch="gateway")
        try:
            async with asyncio.timeout(self._settings.seconds):
                if self._settings.has_own_token:
                    reply, rows = await self._ask_with_own_token(task)
                else:
                    reply, rows = await self._ask_with_ask_token(task, claims)
        except TimeoutError as error:
            raise ModelTimeoutError(
                f"the gateway took longer than {self._settings.seconds:g} seconds"
            ) from error
        evidence = await self._evidence(rows, replace(claims, branch="service"))
        return self._outcome(task, reply, rows, evidence)

    async def _ask_with_ask_token(
        self, task: AgentTask, claims: Claims
    ) -> tuple[ChatReply, tuple[AuditRow, ...]]:
        server = ToolServer(self._settings.url, self._knowledge.sign(claims))
        rules = gateway_rules(self._abstention_sentence)
        reply = await pay(
            task.purse,
            lambda: self._model.respond(
                rules, task.search_question, server, answer_tokens=self._settings.answer_tokens
            ),
            # What the gateway reads in its own rounds is known only when it has answered.
            prompt_tokens=estimate_tokens(len(rules) + len(task.search_question)),
            answer_tokens=self._settings.answer_tokens,
        )
        rows = (await self._knowledge.read_audit(task.ask_id)).rows
        return reply, tuple(row for row in rows if row.branch == "gateway")

    async def _ask_with_own_token(self, task: AgentTask) -> tuple[ChatReply, tuple[AuditRow, ...]]:
        """Ask while no other ask of this process runs: the time then tells whose calls they are."""
        async with self._turn:
            # Rows carry milliseconds, rounded down.
            now = datetime.now(UTC)
            start = now.replace(microsecond=now.microsecond // 1000 * 1000)
            reply = await PaidModel(self._model, task.purse).complete(
                [
                    {"role": "system", "content": gateway_rules(self._abstention_sentence)},
                    {"role": "user", "content": task.search_question},
                ],
                tools=(),
                answer_tokens=self._settings.answer_tokens,
            )
            page = await self._knowledge.read_calls(GATEWAY_CALLER, start, datetime.now(UTC))
        return reply, page.rows

    async def _evidence(self, rows: Sequence[AuditRow], claims: Claims) -> tuple[Evidence, ...]:
        """Read the text of every chunk the audit names, in the order in which it was given."""
        given: dict[str, tuple[str, float | None]] = {}
        for row in rows:
            if row.tool in TEXT_TOOLS and not row.error:
                cosines = (*row.cosines, *[None] * (len(row.chunk_ids) - len(row.cosines)))
                for chunk_id, cosine in zip(row.chunk_ids, cosines, strict=False):
                    given.setdefault(chunk_id, (row.tool, cosine))
        tools = self._knowledge.bind(claims)
        sources = await asyncio.gather(*(tools.get_source(chunk_id) for chunk_id in given))
        return tuple(
            _passage(number, source, *given[source.chunk_id])
            for number, source in enumerate(sources, start=1)
        )

    def _outcome(
        self,
        task: AgentTask,
        reply: ChatReply,
        rows: Sequence[AuditRow],
        evidence: tuple[Evidence, ...],
    ) -> AgentOutcome:
        raw = clean(reply.text)
        text, not_found = take_not_found(_renumber(raw, rows, evidence))
        refused = is_refusal(text, self._abstention_sentence)
        is_ambiguous = self._settings.has_own_token and not _is_of(task, rows)
        return AgentOutcome(
            kind=self.kind,
            model=self.model,
            status="refused" if refused else "answered",
            text=raw if refused else text,
            evidence=evidence,
            tool_calls=tuple(
                ToolCall(row.tool, row.arguments, row.chunk_ids, row.milliseconds, row.error)
                for row in rows
            ),
            rounds=1,
            tokens=reply.usage,
            not_found=not_found,
            degraded=(AMBIGUOUS,) if is_ambiguous else (),
            audit=tuple(rows),
        )


def _is_of(task: AgentTask, rows: Sequence[AuditRow]) -> bool:
    """Whether calls tied by time alone are this ask's beyond doubt.

    They are when they begin with its question and no filter was asked for that only a token of the
    ask could have carried.
    """
    if task.claims is not None and task.claims.source:
        return False
    first = next((row for row in rows if row.tool == "search_kb"), None)
    if first is None:
        return not rows
    return str(first.arguments.get("query", "")).strip() == task.search_question.strip()


def _renumber(text: str, rows: Sequence[AuditRow], evidence: Sequence[Evidence]) -> str:
    """Turn cited chunk ids into the numbers of the evidence.

    Plain numbers count within one result; after a second search nobody can tell which result they
    mean, so they go, and the support check finds the passage instead.
    """
    results = sum(row.tool in TEXT_TOOLS and not row.error for row in rows)
    if results > 1:
        text = _NUMBER.sub("", text)
    numbers = {passage.chunk_id.casefold(): passage.number for passage in evidence}

    def number(found: re.Match[str]) -> str:
        known = numbers.get(found.group(1).casefold())
        return f"[{known}]" if known else ""

    return _CITED_ID.sub(number, text)


def _passage(number: int, source: Source, tool: str, cosine: float | None) -> Evidence:
    return Evidence(
        number=number,
        chunk_id=source.chunk_id,
        text=source.text,
        source=source.source,
        source_url=source.source_url,
        title=source.title,
        section_heading=source.section_heading,
        parent_heading=source.parent_heading,
        position=source.position,
        metadata=source.metadata,
        cosine=cosine,
        tool=tool,
    )
