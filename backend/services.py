"""The composition root of the API process: everything it works with, made from its settings."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import TypeAlias

from fastapi import Request
from prometheus_client import CollectorRegistry

from agent.build import open_agent, open_sufficiency
from agent.contract import Agent
from backend.asking.admission import Admission
from backend.asking.ask import Asker
from backend.asking.branches import Branches
from backend.asking.conclude import Concluder
from backend.asking.erasure import Erasure, RetentionSweep
from backend.asking.index_watch import IndexWatch
from backend.asking.pipeline import Pipeline
from backend.asking.policy import AskPolicy
from backend.asking.ports import IndexSource, Knowledge, QuestionSettler, SufficiencyCheck
from backend.asking.queued import QueuedAsks
from backend.asking.queued_worker import QueuedWork
from backend.asking.records import Recorder
from backend.asking.replay import Replayer
from backend.asking.settle import ConversationSettler
from backend.asking.shadow import ShadowRuns
from backend.caller import ANONYMOUS, LOCAL, Caller
from backend.contract import AskRequest, AskResponse
from backend.edge.gate import DOCUMENT_PATH, Gate
from backend.edge.purses import Purses, TokenMetrics
from backend.edge.rates import RequestRates
from backend.errors import NotAuthenticatedError, UnknownAskError
from backend.events import StageEvent
from backend.metrics import AskMetrics
from backend.queue_gauges import QueueGauges
from backend.settings import ApiSettings
from backend.state_gauges import StateGauges
from backend.verdict.corpus_drift import CorpusDrift
from backend.verdict.rules import RuleBook
from knowledge.client import KnowledgeClient
from service.circuits import Circuits
from service.health import installed_version
from service.limiter import Limiter, LocalLimiter
from service.limiter_opening import open_limiter
from service.metrics import open_registry
from service.tokens import TokenSigner
from storage.asks import AskStore
from storage.calibrations import CalibrationStore
from storage.database import Database, database_url
from storage.jobs import JobStore
from storage.keys import KeyStore
from storage.migrate import require_current
from storage.queued_asks import AskQueue
from storage.spending import SpendingStore

_SPOOL = "spool"


@dataclass(frozen=True, slots=True)
class Services:
    """What the routes work with.

    Attributes:
        asker: Answers questions.
        knowledge: The tool server.
        index: Which build is in force.
        rules: Which rule the guard follows.
        recorder: Finds records.
        replayer: Runs records again.
        shadow: Lets agents finish unseen after a refusal.
        database: Asked whether it answers.
        registry: Of this process's metrics.
        gauges: Those that are looked up when metrics are collected.
        gate: Knows who sent a request.
        rates: How often they may.
        erasure: Deletes records.
        circuits: Of the outside services this process leaves alone when they fail.
        queued: Questions that are answered later, and what works them off.
    """

    asker: Asker
    knowledge: Knowledge
    index: IndexSource
    rules: RuleBook
    recorder: Recorder
    replayer: Replayer
    shadow: ShadowRuns
    database: Database
    registry: CollectorRegistry
    gauges: StateGauges
    queue_gauges: QueueGauges
    gate: Gate
    rates: RequestRates
    erasure: Erasure
    queued: QueuedWork
    circuits: Circuits

    async def ask(self, body: AskRequest, request: Request) -> AsyncGenerator[StageEvent]:
        """Yield the stages of an ask in the name of whoever sent the request."""
        async with aclosing(self.asker.ask(body, identify(request))) as events:
            async for event in events:
                yield event

    async def find(self, ask_id: str, request: Request) -> AskResponse | None:
        """Return a recorded answer that the sender of the request may see, or None.

        Raises:
            AskPendingError: The question is queued and not answered yet.
            AskFailedError: It was queued and could not be answered.
        """
        caller = identify(request)
        try:
            record = await self.recorder.find(ask_id, caller)
        except UnknownAskError:
            await self.queued.asks.require_absent(ask_id, caller)
            return None
        return AskResponse.model_validate(record.response)


Opener: TypeAlias = Callable[[ApiSettings], AbstractAsyncContextManager[Services]]


def identify(request: Request) -> Caller:
    """Return who sent a request, as the gate found."""
    caller = request.state.caller
    if not isinstance(caller, Caller):
        raise NotAuthenticatedError("nobody is known on this path")
    return caller


@asynccontextmanager
async def open_services(settings: ApiSettings) -> AsyncGenerator[Services]:
    """Open everything the API works with, and close it at the end."""
    registry = open_registry("api", version=installed_version())
    database = Database(
        database_url(settings.database_url, settings.data_dir, "vouch"),
        timeout_seconds=settings.database_timeout_seconds,
        schema=require_current,
    )
    signer = TokenSigner(settings.signing_key.get_secret_value())
    timeout_seconds = settings.knowledge_timeout_seconds
    circuits = Circuits(registry)
    limiter = open_limiter(settings.redis_url.get_secret_value(), circuits)
    try:
        async with (
            KnowledgeClient(settings.mcp_url, signer, timeout_seconds=timeout_seconds) as knowledge,
            open_agent(
                settings,
                settings.abstention_sentence,
                knowledge=knowledge,
                packer=knowledge,
                circuits=circuits,
            ) as agent,
            open_sufficiency(settings, circuits=circuits) as sufficiency,
        ):
            services = compose(
                settings,
                knowledge,
                agent,
                database=database,
                registry=registry,
                sufficiency=sufficiency,
                limiter=limiter,
                circuits=circuits,
            )
            sweep = RetentionSweep(services.erasure, days=settings.retention_days)
            async with services.shadow, services.queued.running(), sweep:
                yield services
    finally:
        await limiter.close()
        await database.close()


def compose(
    settings: ApiSettings,
    knowledge: Knowledge,
    agent: Agent,
    *,
    database: Database,
    registry: CollectorRegistry,
    index: IndexSource | None = None,
    settler: QuestionSettler | None = None,
    sufficiency: SufficiencyCheck | None = None,
    limiter: Limiter | None = None,
    circuits: Circuits | None = None,
) -> Services:
    """Put the parts together.

    Args:
        settings: Of the process.
        knowledge: The tool server.
        agent: Who answers.
        database: Where records and calibrations are.
        registry: Of the process's metrics.
        index: Which build is in force; None: the tool server is asked.
        settler: Settles what is searched for; None: with the conversation before it.
        sufficiency: A further check that can only refuse; None for none.
        limiter: Counts requests; None counts in this process.
        circuits: Of the outside services; None for none yet.
    """
    metrics = AskMetrics(registry)
    circuits = circuits or Circuits(registry)
    index = index or IndexWatch(knowledge)
    policy = _policy(settings)
    rules = RuleBook(
        CalibrationStore(database),
        mode=settings.guard_mode,
        floor_cosine=settings.abstention_score_threshold,
        drift=CorpusDrift(knowledge),
    )
    store = AskStore(database)
    recorder = Recorder(
        store,
        policy=settings.record_policy,
        spool=settings.data_dir / _SPOOL,
        metrics=metrics,
    )
    shadow = ShadowRuns(
        Branches(knowledge, agent, mode="concurrent"),
        store=store,
        metrics=metrics,
        share=settings.shadow_share,
    )
    pipeline = Pipeline(
        knowledge=knowledge,
        index=index,
        agent=agent,
        settler=settler or ConversationSettler(store, knowledge),
        rules=rules,
        concluder=Concluder(policy, sufficiency),
        recorder=recorder,
        policy=policy,
        shadow=shadow,
        purses=Purses(
            SpendingStore(database),
            TokenMetrics(registry, settings.daily_tokens),
            daily_tokens=settings.daily_tokens,
        ),
        fallen=lambda: circuits.fallen,
    )
    admission = Admission(running=settings.max_running_asks, waiting=settings.max_waiting_asks)
    metrics.watch_admission(lambda: admission.running, lambda: admission.waiting)
    asker = Asker(
        pipeline,
        admission=admission,
        metrics=metrics,
        timeout_seconds=settings.request_timeout_seconds,
    )
    gate = Gate(
        KeyStore(database),
        _without_key(settings),
        admin_token=settings.admin_token.get_secret_value(),
        key_only={DOCUMENT_PATH} if settings.env == "prod" else (),
    )
    asks = QueuedAsks(AskQueue(database), most_waiting=settings.queued_asks_waiting)
    return Services(
        asker=asker,
        knowledge=knowledge,
        index=index,
        rules=rules,
        recorder=recorder,
        replayer=Replayer(knowledge, index, rules),
        shadow=shadow,
        database=database,
        registry=registry,
        gauges=StateGauges(registry, JobStore(database), rules, index),
        queue_gauges=QueueGauges(registry, database, settings, settings.broker_queues),
        gate=gate,
        queued=QueuedWork(asks, asker, store, gate, settings),
        rates=RequestRates(
            limiter or LocalLimiter(),
            per_key=settings.key_rate,
            per_address=settings.address_rate,
        ),
        erasure=Erasure(database, knowledge, recorder, registry),
        circuits=circuits,
    )


def _without_key(settings: ApiSettings) -> Caller | None:
    if not settings.is_anonymous_allowed:
        return None
    return LOCAL if settings.is_local else ANONYMOUS


def _policy(settings: ApiSettings) -> AskPolicy:
    return AskPolicy(
        sentence=settings.abstention_sentence,
        timeout_seconds=settings.request_timeout_seconds,
        support=settings.support_policy,
        mode=settings.ask_mode,
        versions={"vouch": installed_version()},
    )
