"""The work of one ask: settle, search twice, judge, check, write down."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from agent.contract import Agent
from backend.asking.assemble import Answerer, agent_only, assemble
from backend.asking.branches import AskFrame, Branches, Emit, Gathered
from backend.asking.clarify import ask_back
from backend.asking.conclude import Concluder
from backend.asking.overall import JoinedOutcome, join_outcomes, name_refused
from backend.asking.policy import AskPolicy
from backend.asking.ports import IndexSource, Knowledge, QuestionSettler, SettledQuestion
from backend.asking.record import make_record
from backend.asking.records import Recorder
from backend.asking.shadow import ShadowRuns
from backend.asking.stopwatch import Stopwatch
from backend.caller import Caller
from backend.contract import AskRequest, AskResponse
from backend.edge.purses import Purse, Purses
from backend.events import AnswerDrafted, Condensed
from backend.verdict.rules import RuleBook, RuleInForce
from knowledge.contracts import AuditRow
from knowledge.errors import BuildGoneError, KnowledgeError
from service.logs import get_logger

_logger = get_logger(__name__)
# A token outlives its ask a little: a call sent at the last moment meets the deadline, not this.
_TOKEN_MARGIN_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class _Ask:
    """One ask as it came in."""

    id: str
    request: AskRequest
    caller: Caller
    settled: SettledQuestion
    created_at: datetime
    emit: Emit
    watch: Stopwatch
    purse: Purse


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What both branches brought, complete for a response."""

    frame: AskFrame
    rule: RuleInForce
    gathered: Gathered
    joined: JoinedOutcome | None
    cosines: Mapping[str, float]


class Pipeline:
    """Does the work of one ask.

    Args:
        knowledge: The tool server.
        index: Which build is in force.
        agent: Who answers.
        settler: Turns what was typed into what is searched for.
        rules: Which rule the guard follows.
        concluder: Decides between answer and refusal.
        recorder: Stores records.
        policy: How asks are handled.
        shadow: Lets agents finish unseen after a refusal of the guard.
        purses: Pay for model calls.
        fallen: Names what of this process has fallen back at the moment.
        clock: Returns Unix time in seconds.
    """

    def __init__(
        self,
        *,
        knowledge: Knowledge,
        index: IndexSource,
        agent: Agent,
        settler: QuestionSettler,
        rules: RuleBook,
        concluder: Concluder,
        recorder: Recorder,
        policy: AskPolicy,
        shadow: ShadowRuns,
        purses: Purses,
        fallen: Callable[[], Sequence[str]] = tuple,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._knowledge = knowledge
        self._index = index
        self._settler = settler
        self._rules = rules
        self._concluder = concluder
        self._recorder = recorder
        self._policy = policy
        self._shadow = shadow
        self._purses = purses
        self._fallen = fallen
        self._clock = clock
        self._branches = Branches(knowledge, agent, mode=policy.mode)
        self._answerer = Answerer(agent.kind, agent.model)

    async def run(
        self, request: AskRequest, caller: Caller, emit: Emit, *, ask_id: str | None = None
    ) -> AskResponse:
        """Return the response of one ask, its record stored.

        Args:
            request: What is asked.
            caller: Who asks.
            emit: Takes the stages.
            ask_id: Id given out before; None makes one.

        Raises:
            KnowledgeError: The evidence cannot be reached.
            AgentError: The evidence suffices and the agent failed.
            RecordUnavailableError: The record cannot be stored.
        """
        purse = self._purses.open(caller)
        if self._answerer.kind != "extractive":
            await purse.require()
        created_at = datetime.fromtimestamp(self._clock(), UTC)
        ask_id = ask_id or str(uuid.uuid4())
        watch = Stopwatch()
        with watch.measure("condense"):
            settled = await self._settler.settle(request, caller)
        emit(Condensed(ask_id, settled.search_question))
        ask = _Ask(ask_id, request, caller, settled, created_at, emit, watch, purse)
        try:
            found = await self._gather(ask)
        except BuildGoneError:
            # Another build took over and this one was let go: once more on the new one.
            self._index.forget()
            found = await self._gather(ask)
        return await self._finish(ask, found)

    async def _gather(self, ask: _Ask) -> _Evidence:
        index = await self._index.current()
        rule = await self._rules.rule_for(index)
        frame = AskFrame(
            ask_id=ask.id,
            question=ask.request.question,
            search_question=ask.settled.search_question,
            parts=ask.settled.parts,
            top_k=ask.request.top_k,
            source=ask.request.source or "",
            caller=ask.caller,
            index=index,
            rule=rule.rule,
            expires_at=self._clock() + self._policy.timeout_seconds + _TOKEN_MARGIN_SECONDS,
            purse=ask.purse,
        )
        run = self._branches.search_only if ask.settled.is_vague else self._branches.run
        gathered = await run(frame, ask.emit, ask.watch)
        outcomes = name_refused(gathered.outcomes)
        joined = join_outcomes(outcomes) if outcomes else None
        if joined is not None:
            outcome = joined.outcome
            ask.emit(AnswerDrafted(outcome.status == "refused", outcome.rounds))
        return _Evidence(
            frame, rule, gathered, joined, await self._measure(frame, gathered, joined)
        )

    async def _measure(
        self, frame: AskFrame, gathered: Gathered, joined: JoinedOutcome | None
    ) -> Mapping[str, float]:
        """Return cosines against the question of chunks that only the agent read."""
        others = agent_only(gathered, joined.outcome if joined else None)
        if not others:
            return {}
        claims = frame.claims("service")
        return (await self._knowledge.measure(frame.search_question, others, claims)).cosines

    async def _finish(self, ask: _Ask, found: _Evidence) -> AskResponse:
        reading = asyncio.create_task(self._read_audit(found))
        await asyncio.sleep(0)  # the request is under way before the answer is checked
        try:
            with ask.watch.measure("citations"):
                conclusion = await self._concluder.conclude(
                    found.frame,
                    found.gathered,
                    found.joined,
                    audit=reading,
                    cosines=found.cosines,
                    degraded=(*found.rule.degraded, *self._fallen(), *ask.purse.fallen),
                )
        finally:
            reading.cancel()
        audit = reading.result()
        response = assemble(
            found.frame,
            found.gathered,
            conclusion,
            answerer=self._answerer,
            sentence=self._policy.sentence,
            created_at=ask.created_at.isoformat(),
            conversation_id=ask.request.conversation_id,
            timings_ms=ask.watch.timings(),
        )
        if ask.settled.is_vague:
            response = ask_back(response)
        record = make_record(
            found.frame,
            found.gathered,
            conclusion.outcome,
            response,
            audit=audit,
            created_at=ask.created_at,
            versions={**self._policy.versions, "calibration": found.rule.calibration},
        )
        body = record.response
        stored = await self._recorder.store(record)
        if not found.gathered.guard.passed and not ask.settled.is_vague:
            self._shadow.consider(found.frame)
        # It is another one only when the record went to the spool, which the response says.
        is_same = stored.response is body
        return response if is_same else AskResponse.model_validate(stored.response)

    async def _read_audit(self, found: _Evidence) -> Sequence[AuditRow] | None:
        if found.joined is None:
            return ()
        try:
            return (await self._knowledge.read_audit(found.frame.ask_id)).rows
        except KnowledgeError as error:
            _logger.warning("audit cannot be read", code=error.code, detail=str(error))
            return None
