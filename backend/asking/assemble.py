"""Builds the response from what happened. Pure; what may be shown was decided before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from agent.contract import AgentKind, AgentOutcome, Evidence, Packing
from backend.asking.branches import AskFrame, Gathered
from backend.asking.decision import not_found_parts
from backend.asking.overall import merge_hits
from backend.citing.citations import CitedAnswer
from backend.citing.injection import find_injections
from backend.citing.links import hosts_of
from backend.contract import (
    Abstention,
    AgentView,
    AskResponse,
    Fidelity,
    PackingView,
    RetrievedChunk,
    ToolCallView,
)
from backend.rendering import render_answer
from knowledge.contracts import SearchHit
from knowledge.packing import Stretch


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What was decided about an ask, before it is written down as a response.

    Attributes:
        outcome: What the agent brought, all parts joined; None when it was cancelled.
        cited: The checked answer; None on a refusal.
        abstention: Why it refuses; None when it answers.
        cosines: Of chunks only the agent read, against the search question.
        removed_markers: Numbers outside the evidence.
        degraded: Names of what fell back.
    """

    outcome: AgentOutcome | None
    cited: CitedAnswer | None
    abstention: Abstention | None
    fidelity: Fidelity
    cosines: Mapping[str, float]
    removed_markers: tuple[int, ...]
    degraded: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answerer:
    """Who would have answered, for refusals in which nobody did."""

    kind: AgentKind
    model: str


def assemble(
    frame: AskFrame,
    gathered: Gathered,
    conclusion: Conclusion,
    *,
    answerer: Answerer,
    sentence: str,
    created_at: str,
    conversation_id: str | None,
    timings_ms: dict[str, float],
) -> AskResponse:
    """Return the response; on a refusal it holds the fixed sentence and no citation.

    Args:
        frame: What was asked.
        gathered: Searches and verdicts.
        conclusion: What was decided.
        answerer: The agent in use.
        sentence: The whole answer of a refusal.
        created_at: UTC, ISO 8601.
        conversation_id: As the caller gave it.
        timings_ms: Milliseconds by stage.
    """
    cited = None if conclusion.abstention else conclusion.cited
    is_answer = cited is not None
    return AskResponse(
        schema="1",
        id=frame.ask_id,
        created_at=created_at,
        question=frame.question,
        search_question=frame.search_question,
        conversation_id=conversation_id,
        status="answered" if is_answer else "abstained",
        abstained=not is_answer,
        answer=cited.text if cited else sentence,
        answer_html=_render(cited, sentence, _hosts(conclusion.outcome)),
        not_found=_not_found(gathered, conclusion) if is_answer else (),
        abstention=conclusion.abstention,
        guard=gathered.guard,
        citations=cited.citations if cited else (),
        sentences=cited.sentences if cited else (),
        removed_markers=conclusion.removed_markers,
        retrieved_chunks=list_chunks(gathered, conclusion.outcome, cited, conclusion.cosines),
        agent=_describe_agent(conclusion.outcome, answerer),
        packing=tuple(
            _describe_packing(each)
            for each in (conclusion.outcome.packing if conclusion.outcome else ())
        ),
        fidelity=conclusion.fidelity,
        degraded=conclusion.degraded,
        timings_ms=timings_ms,
        index=gathered.parts[0].search.index,
    )


def list_chunks(
    gathered: Gathered,
    outcome: AgentOutcome | None,
    cited: CitedAnswer | None,
    cosines: Mapping[str, float],
) -> tuple[RetrievedChunk, ...]:
    """Return every passage of the inspector: the guard's, then those only the agent read."""
    read = {item.chunk_id: item for item in outcome.evidence} if outcome else {}
    cited_ids = {citation.chunk_id for citation in cited.citations} if cited else set[str]()

    def mark(hit: SearchHit, *, in_guard_search: bool) -> RetrievedChunk:
        item = read.get(hit.chunk_id)
        return RetrievedChunk(
            **dict(hit),
            read_by_agent=item is not None and bool(item.text),
            in_guard_search=in_guard_search,
            cited=hit.chunk_id in cited_ids,
            number=item.number if item and item.text and cited else None,
            given=_given(item),
            injections=tuple(dict.fromkeys(each.kind for each in find_injections(hit.text))),
        )

    searched = merge_hits([part.search for part in gathered.parts])
    seen = {hit.chunk_id for hit in searched}
    others = [item for item in read.values() if item.chunk_id not in seen]
    return (
        *(mark(hit, in_guard_search=True) for hit in searched),
        *(
            mark(
                _as_hit(item, cosines[item.chunk_id], len(searched) + place), in_guard_search=False
            )
            for place, item in enumerate(others, start=1)
            if item.chunk_id in cosines
        ),
    )


def _given(item: Evidence | None) -> tuple[Stretch, ...] | None:
    if item is None or item.kept is None:
        return None
    return tuple(Stretch(start=start, end=end) for start, end in item.kept)


def agent_only(gathered: Gathered, outcome: AgentOutcome | None) -> tuple[str, ...]:
    """Return ids of chunks the agent read that the guard's searches did not return."""
    searched = {hit.chunk_id for part in gathered.parts for hit in part.search.hits}
    evidence = outcome.evidence if outcome else ()
    return tuple(item.chunk_id for item in evidence if item.chunk_id not in searched)


def _as_hit(item: Evidence, cosine: float, rank: int) -> SearchHit:
    return SearchHit(
        chunk_id=item.chunk_id,
        text=item.whole,
        source=item.source,
        source_url=item.source_url,
        title=item.title,
        section_heading=item.section_heading,
        parent_heading=item.parent_heading,
        position=item.position,
        metadata=item.metadata,
        cosine=cosine,
        fused_rank=rank,
    )


def _render(cited: CitedAnswer | None, sentence: str, hosts: frozenset[str]) -> str:
    if cited is None:
        return render_answer(sentence, numbers=(), hosts=frozenset())
    return render_answer(
        cited.text,
        numbers=[citation.number for citation in cited.citations],
        unsupported=[each.text for each in cited.sentences if each.factual and not each.verified],
        hosts=hosts,
    )


def _hosts(outcome: AgentOutcome | None) -> frozenset[str]:
    return hosts_of(item.source_url for item in outcome.evidence) if outcome else frozenset()


def _not_found(gathered: Gathered, conclusion: Conclusion) -> tuple[str, ...]:
    failing: Sequence[str] = [part.text for part in gathered.parts if not part.guard.passed]
    refused = [part.text for part, outcome in gathered.outcomes if outcome.status == "refused"]
    return not_found_parts([*failing, *refused], conclusion.outcome)


def _describe_agent(outcome: AgentOutcome | None, answerer: Answerer) -> AgentView:
    if outcome is None:
        return AgentView(
            kind=answerer.kind, model=answerer.model, rounds=0, tool_calls=(), tokens={}
        )
    return AgentView(
        kind=outcome.kind,
        model=outcome.model,
        rounds=outcome.rounds,
        tool_calls=tuple(
            ToolCallView(
                tool=call.tool,
                arguments=call.arguments,
                chunk_ids=call.chunk_ids,
                milliseconds=call.milliseconds,
                error=call.error,
            )
            for call in outcome.tool_calls
        ),
        tokens={name: int(spent) for name, spent in asdict(outcome.tokens).items()},
    )


def _describe_packing(packing: Packing) -> PackingView:
    fitted = packing.fitted
    if fitted is None:
        return PackingView(query=packing.query, status=packing.status, error=packing.error)
    is_whole = packing.status == "kept_whole"
    return PackingView(
        query=packing.query,
        status=packing.status,
        origin_tokens=fitted.origin_tokens,
        tokens=fitted.origin_tokens if is_whole else fitted.tokens,
        stages=() if is_whole else fitted.stages,
        repeats=() if is_whole else fitted.repeats,
    )
