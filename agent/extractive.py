"""The agent that needs no model: it quotes the sentences that cover the question, and cites them.

It goes through the same tools as any other agent, so its evidence is audited and compared like
theirs. It refuses when nothing it received covers enough of the question.
"""

from __future__ import annotations

import asyncio

from agent.budget import Budget, Limits
from agent.capture import CapturingTools
from agent.contract import AgentKind, AgentOutcome, AgentTask
from agent.packing import EvidencePacking, PackingRules
from agent.quoting import quote
from agent.selection import select
from knowledge.tools import KnowledgeTools

_METHOD = "sentence-cover"
# Refuses 56% of the far and 48% of the near unanswerable development questions at 1% of the
# answerable ones, before the guard has its say.
_DEFAULT_REACH = 0.3


class ExtractiveAgent:
    """Quotes, cites, or refuses.

    Args:
        abstention_sentence: The fixed sentence of a refusal.
        minimum_reach: Share of the question's words that some sentence with its headings must
            cover, in [0, 1]; below it the agent refuses.
        packing: How evidence is packed; None packs nothing.
    """

    def __init__(
        self,
        abstention_sentence: str = "",
        *,
        minimum_reach: float = _DEFAULT_REACH,
        packing: PackingRules | None = None,
    ) -> None:
        self._packing = packing
        self._abstention_sentence = abstention_sentence
        self._minimum_reach = minimum_reach

    @property
    def kind(self) -> AgentKind:
        """Always ``extractive``."""
        return "extractive"

    @property
    def model(self) -> str:
        """Name of the method."""
        return _METHOD

    async def answer(self, task: AgentTask, tools: KnowledgeTools) -> AgentOutcome:
        """Search once with the question verbatim and quote what covers it.

        Raises:
            KnowledgeError: The evidence cannot be reached.
        """
        captured = CapturingTools(tools, Budget(Limits(calls=1)))
        await captured.search_kb(task.search_question, task.top_k)
        packing = EvidencePacking(self._packing, task, captured)
        await packing.fit(captured.evidence, None)
        evidence = captured.evidence
        selection = await asyncio.to_thread(select, task.search_question, evidence)
        has_answer = bool(selection.chosen) and selection.reach >= self._minimum_reach
        return AgentOutcome(
            kind=self.kind,
            model=self.model,
            status="answered" if has_answer else "refused",
            text=quote(selection.chosen) if has_answer else self._abstention_sentence,
            evidence=evidence,
            tool_calls=captured.calls,
            degraded=packing.degraded,
            packing=tuple(packing.done),
        )

    async def close(self) -> None:
        """Hold nothing open."""
