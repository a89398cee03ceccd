"""Writes an ask down: everything needed to show it again and to run it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import cast

from agent.contract import AgentOutcome
from backend.asking.branches import AskFrame, Gathered
from backend.contract import AskResponse
from knowledge.contracts import AuditRow
from storage.asks import AskRecord, JsonObject


def make_record(
    frame: AskFrame,
    gathered: Gathered,
    outcome: AgentOutcome | None,
    response: AskResponse,
    *,
    audit: Sequence[AuditRow] | None,
    created_at: datetime,
    versions: Mapping[str, str],
) -> AskRecord:
    """Return the record of an ask.

    Args:
        frame: What was asked.
        gathered: Searches and verdicts.
        outcome: What the agent brought; None when it was cancelled.
        response: The response as it goes out.
        audit: The tool server's rows; None when they could not be read.
        created_at: When the ask began, UTC.
        versions: Of what took part, by name.
    """
    supports = [citation.support for citation in response.citations]
    guard = response.guard
    return AskRecord(
        id=frame.ask_id,
        created_at=created_at,
        caller=frame.caller.name,
        conversation_id=response.conversation_id,
        question=frame.question,
        search_question=frame.search_question,
        source=frame.source,
        top_k=frame.top_k,
        status=response.status,
        abstained=response.abstained,
        reason=response.abstention.reason if response.abstention else "",
        answer=response.answer,
        raw_text=outcome.text if outcome else "",
        guard_mode=guard.mode,
        best_cosine=guard.best_cosine,
        threshold=guard.threshold,
        probability=guard.probability,
        fidelity=response.fidelity.verdict,
        lowest_support=min(supports, default=None),
        agent_kind=response.agent.kind,
        model=response.agent.model,
        build=response.index.build,
        response=response.model_dump(mode="json", by_alias=True),
        verdict=guard.model_dump(mode="json"),
        searches=[
            {
                "text": part.text,
                "search": part.search.model_dump(mode="json"),
                "guard": part.guard.model_dump(mode="json"),
                "stages": part.stages.model_dump(mode="json"),
            }
            for part in gathered.parts
        ],
        evidence=_as_json(outcome.evidence if outcome else ()),
        tool_calls=_as_json(outcome.tool_calls if outcome else ()),
        audit=[row.model_dump(mode="json") for row in audit or ()],
        prompt=[dict(message) for message in outcome.prompt] if outcome else [],
        labels=list(frame.caller.labels),
        timings_ms=response.timings_ms,
        versions=dict(versions),
    )


def _as_json(items: Sequence[object]) -> list[JsonObject]:
    # The agent's records are dataclasses of JSON values alone; tuples become lists on the way.
    return [cast("JsonObject", asdict(item)) for item in items]  # pyright: ignore[reportArgumentType] - every item is a dataclass
