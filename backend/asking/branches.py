"""The two branches of an ask: the agent answers while the API searches for itself and judges.

Each part of the question has both branches. A part whose evidence is weak loses its agent at once;
what that agent would have said, or how it failed, no longer matters.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from agent.contract import Agent, AgentOutcome, AgentTask
from agent.errors import AgentError
from agent.purse import OPEN_PURSE, TokenPurse
from backend.asking.overall import PartVerdict, merge_hits, overall_verdict
from backend.asking.ports import Knowledge
from backend.asking.stopwatch import Stopwatch
from backend.caller import Caller
from backend.contract import GuardView
from backend.events import EvidenceFound, StageEvent, VerdictReached
from backend.settings import AskMode
from backend.verdict.guard import Rule, judge
from knowledge.contracts import IndexInfo, SearchTrace
from knowledge.errors import KnowledgeError
from service.tokens import Branch, Claims

Emit: TypeAlias = Callable[[StageEvent], None]
_Answer: TypeAlias = AgentOutcome | AgentError | KnowledgeError


@dataclass(frozen=True, slots=True)
class AskFrame:
    """What both branches of an ask share.

    Attributes:
        parts: Texts to search for, verbatim; one for a simple question.
        index: The build both branches are pinned to.
        expires_at: Unix time in seconds at which the branches' tokens expire.
        purse: Pays for the model calls.
    """

    ask_id: str
    question: str
    search_question: str
    parts: tuple[str, ...]
    top_k: int
    source: str
    caller: Caller
    index: IndexInfo
    rule: Rule
    expires_at: float
    purse: TokenPurse = OPEN_PURSE

    def claims(self, branch: Branch) -> Claims:
        """Return what a branch's token says."""
        return Claims(
            ask_id=self.ask_id,
            branch=branch,
            scopes=("service",) if branch == "service" else ("search",),
            labels=self.caller.labels,
            build=self.index.build,
            expires_at=self.expires_at,
        )


@dataclass(frozen=True, slots=True)
class Gathered:
    """What both branches brought.

    Attributes:
        parts: Every part with its search and verdict.
        guard: The verdict on the whole question.
        outcomes: The agent's outcome for each part that passed, in order; empty on a refusal.
    """

    parts: tuple[PartVerdict, ...]
    guard: GuardView
    outcomes: tuple[tuple[PartVerdict, AgentOutcome], ...]


class Branches:
    """Runs both branches of an ask.

    Args:
        knowledge: The tool server.
        agent: Who answers.
        mode: ``guard_first`` starts the agent only after its part has passed.
    """

    def __init__(self, knowledge: Knowledge, agent: Agent, *, mode: AskMode) -> None:
        self._knowledge = knowledge
        self._agent = agent
        self._mode = mode

    async def run(self, frame: AskFrame, emit: Emit, watch: Stopwatch) -> Gathered:
        """Search, judge and answer.

        Raises:
            KnowledgeError: The guard's search cannot run, or the agent lost its evidence.
            AgentError: The evidence suffices and the agent failed.
        """
        failure: KnowledgeError | None = None
        judged: tuple[PartVerdict, ...] = ()
        answers: list[tuple[PartVerdict, _Answer]] = []
        async with asyncio.TaskGroup() as group:
            started = self._start_agents(group, frame, watch) if self._mode == "concurrent" else []
            with watch.measure("search"):
                found = await self._search_all(frame)
            if isinstance(found, KnowledgeError):
                failure = found
                _cancel(started)
            else:
                emit(EvidenceFound(merge_hits([trace.result for trace in found])))
                judged = _judge_all(frame, found)
                emit(VerdictReached(overall_verdict(judged)))
                tasks = started or [
                    self._start(group, frame, part.text, watch) if part.guard.passed else None
                    for part in judged
                ]
                answers = await _await_passing(judged, tasks)
        if failure is not None:
            raise failure
        return Gathered(judged, overall_verdict(judged), _successes(answers))

    async def search_only(self, frame: AskFrame, emit: Emit, watch: Stopwatch) -> Gathered:
        """Search and judge without an agent, for a question that is asked back.

        Raises:
            KnowledgeError: The search cannot run.
        """
        with watch.measure("search"):
            found = await self._search_all(frame)
        if isinstance(found, KnowledgeError):
            raise found
        emit(EvidenceFound(merge_hits([trace.result for trace in found])))
        judged = _judge_all(frame, found)
        return Gathered(judged, overall_verdict(judged), ())

    async def answer_unseen(self, frame: AskFrame) -> AgentOutcome | None:
        """Let the agent answer the whole question after a refusal; None when it fails."""
        answer = await self._answer(frame, frame.search_question, Stopwatch())
        return answer if isinstance(answer, AgentOutcome) else None

    def _start_agents(
        self, group: asyncio.TaskGroup, frame: AskFrame, watch: Stopwatch
    ) -> list[asyncio.Task[_Answer] | None]:
        return [self._start(group, frame, text, watch) for text in frame.parts]

    def _start(
        self, group: asyncio.TaskGroup, frame: AskFrame, text: str, watch: Stopwatch
    ) -> asyncio.Task[_Answer]:
        return group.create_task(self._answer(frame, text, watch))

    async def _search_all(self, frame: AskFrame) -> tuple[SearchTrace, ...] | KnowledgeError:
        claims = frame.claims("guard")

        async def search(text: str) -> SearchTrace | KnowledgeError:
            try:
                return await self._knowledge.search(
                    text, claims, top_k=frame.top_k, source=frame.source
                )
            except KnowledgeError as error:
                return error

        found = await asyncio.gather(*(search(text) for text in frame.parts))
        results = tuple(each for each in found if isinstance(each, SearchTrace))
        errors = [each for each in found if isinstance(each, KnowledgeError)]
        return errors[0] if errors else results

    async def _answer(self, frame: AskFrame, text: str, watch: Stopwatch) -> _Answer:
        is_whole = len(frame.parts) == 1
        # A gateway's calls are told apart by their token alone, so each part has an id of its own.
        ask_id = frame.ask_id if is_whole else f"{frame.ask_id}/{frame.parts.index(text) + 1}"
        task = AgentTask(
            # A follow-up as it was typed ("and on Windows?") says nothing by itself.
            question=text,
            search_question=text,
            top_k=frame.top_k,
            ask_id=ask_id,
            claims=replace(frame.claims("gateway"), ask_id=ask_id),
            purse=frame.purse,
        )
        tools = self._knowledge.bind(frame.claims("agent"), source=frame.source, top_k=frame.top_k)
        with watch.measure("agent"):
            try:
                return await self._agent.answer(task, tools)
            except (AgentError, KnowledgeError) as error:
                return error


def _judge_all(frame: AskFrame, found: Sequence[SearchTrace]) -> tuple[PartVerdict, ...]:
    return tuple(
        PartVerdict(text, trace.result, judge(trace.result.signals, frame.rule), trace.stages)
        for text, trace in zip(frame.parts, found, strict=True)
    )


async def _await_passing(
    judged: Sequence[PartVerdict], tasks: Sequence[asyncio.Task[_Answer] | None]
) -> list[tuple[PartVerdict, _Answer]]:
    _cancel([task for part, task in zip(judged, tasks, strict=True) if not part.guard.passed])
    return [
        (part, await task)
        for part, task in zip(judged, tasks, strict=True)
        if part.guard.passed and task is not None
    ]


def _cancel(tasks: Sequence[asyncio.Task[_Answer] | None]) -> None:
    for task in tasks:
        if task is not None:
            task.cancel()


def _successes(
    answers: Sequence[tuple[PartVerdict, _Answer]],
) -> tuple[tuple[PartVerdict, AgentOutcome], ...]:
    succeeded: list[tuple[PartVerdict, AgentOutcome]] = []
    for part, answer in answers:
        if not isinstance(answer, AgentOutcome):
            raise answer
        succeeded.append((part, answer))
    return tuple(succeeded)
