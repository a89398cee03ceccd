"""From what both branches brought to a decision: shown, or refused and why."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import replace

from agent.contract import AgentOutcome
from agent.errors import AgentError
from agent.gateway import AMBIGUOUS
from backend.asking.assemble import Conclusion
from backend.asking.branches import AskFrame, Gathered
from backend.asking.decision import (
    refuse_by_agent,
    refuse_by_citations,
    refuse_by_guard,
    refuse_by_sufficiency,
)
from backend.asking.fidelity import compare_evidence
from backend.asking.overall import JoinedOutcome, merge_hits
from backend.asking.policy import AskPolicy
from backend.asking.ports import SufficiencyCheck
from backend.citing.citations import CitedAnswer, cite
from backend.contract import Abstention, Fidelity
from knowledge.contracts import AuditRow
from service.logs import get_logger

_logger = get_logger(__name__)

PACKING_CHANGED = "packing_changed_citation"


class Concluder:
    """Decides between answer and refusal.

    Args:
        policy: How asks are handled.
        sufficiency: A further look by a model that can only refuse; None for none.
    """

    def __init__(self, policy: AskPolicy, sufficiency: SufficiencyCheck | None = None) -> None:
        self._policy = policy
        self._sufficiency = sufficiency

    async def conclude(
        self,
        frame: AskFrame,
        gathered: Gathered,
        joined: JoinedOutcome | None,
        *,
        audit: Awaitable[Sequence[AuditRow] | None],
        cosines: Mapping[str, float],
        degraded: Sequence[str],
    ) -> Conclusion:
        """Return the decision with all it rests on.

        Args:
            frame: What was asked.
            gathered: Searches and verdicts.
            joined: What the agent brought for all parts; None when it was cancelled.
            audit: Gives the tool server's rows, None when they cannot be read; awaited only when
                the answer was checked, so that both happen at the same time.
            cosines: Of chunks only the agent read, against the search question.
            degraded: Names of what fell back before.
        """
        fallen = list(degraded)
        fallen += [name for part in gathered.parts for name in part.search.degraded]
        outcome = joined.outcome if joined else None
        if outcome is not None:
            fallen += outcome.degraded
        abstention = refuse_by_guard(gathered.guard, frame.source)
        cited: CitedAnswer | None = None
        unchecked: list[str] = []
        if abstention is None and outcome is not None:
            abstention, cited, unchecked = await self._examine(frame, outcome)
        rows = await audit
        if rows is None:
            fallen.append("audit_unavailable")
        if {*agent_ids(outcome)} - {*guard_ids(gathered)} - cosines.keys():
            fallen.append("agent_chunk_unmeasured")
        fallen += unchecked
        removed = (
            *(joined.removed_markers if joined else ()),
            *(cited.removed_markers if cited else ()),
        )
        return Conclusion(
            outcome=outcome,
            cited=cited,
            abstention=abstention,
            fidelity=_fidelity(gathered, outcome, rows),
            cosines=cosines,
            removed_markers=removed,
            degraded=tuple(dict.fromkeys(fallen)),
        )

    async def _examine(
        self, frame: AskFrame, outcome: AgentOutcome
    ) -> tuple[Abstention | None, CitedAnswer | None, list[str]]:
        refusal = refuse_by_agent(outcome, self._policy.sentence)
        if refusal is not None:
            return refusal, None, []
        refusal, unchecked = await self._check_sufficiency(frame, outcome)
        if refusal is not None:
            return refusal, None, unchecked
        cited = cite(outcome.text, outcome.evidence, self._policy.support)
        if self._differs_whole(outcome, cited):
            unchecked = [*unchecked, PACKING_CHANGED]
        return refuse_by_citations(cited), cited, unchecked

    def _differs_whole(self, outcome: AgentOutcome, cited: CitedAnswer) -> bool:
        """Whether the whole passages bear out other claims than what was put before the agent."""
        if all(item.stored is None for item in outcome.evidence):
            return False
        whole = [
            replace(item, text=item.whole, stored=None, kept=None) for item in outcome.evidence
        ]
        return _verdicts(cite(outcome.text, whole, self._policy.support)) != _verdicts(cited)

    async def _check_sufficiency(
        self, frame: AskFrame, outcome: AgentOutcome
    ) -> tuple[Abstention | None, list[str]]:
        if self._sufficiency is None:
            return None, []
        passages = [item.text for item in outcome.evidence if item.text]
        try:
            found = await self._sufficiency.check(
                frame.search_question, passages, purse=frame.purse
            )
        except AgentError as error:
            _logger.warning("sufficiency check failed", code=error.code, detail=str(error))
            return None, ["sufficiency_unchecked"]
        return refuse_by_sufficiency(found), []


def _verdicts(cited: CitedAnswer) -> list[tuple[tuple[int, ...], bool]]:
    return [(each.numbers, each.verified) for each in cited.sentences]


def agent_ids(outcome: AgentOutcome | None) -> tuple[str, ...]:
    """Return ids of the chunks the agent received."""
    return tuple(item.chunk_id for item in outcome.evidence) if outcome else ()


def guard_ids(gathered: Gathered) -> tuple[str, ...]:
    """Return ids of the chunks the guard judged."""
    return tuple(hit.chunk_id for hit in merge_hits([part.search for part in gathered.parts]))


def _fidelity(
    gathered: Gathered, outcome: AgentOutcome | None, audit: Sequence[AuditRow] | None
) -> Fidelity:
    guard = guard_ids(gathered)
    if outcome is None:
        return Fidelity(verdict="unknown", guard_only=guard)
    passing = guard_ids(Gathered(tuple(part for part, _ in gathered.outcomes), gathered.guard, ()))
    # Calls that only their time ties to this ask prove nothing when it is in doubt.
    rows = None if audit is None or AMBIGUOUS in outcome.degraded else (*audit, *outcome.audit)
    return compare_evidence(agent_ids(outcome), passing, rows)
