"""An application that serves the pages over answers made by hand, with every stage on demand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from fastapi import FastAPI, Request

from backend.contract import AskRequest, AskResponse
from backend.desk.ports import KeptCalibration
from backend.desk.report_shelf import ReportCard
from backend.errors import OverloadedError
from backend.events import (
    AnswerDrafted,
    Condensed,
    Done,
    EvidenceFound,
    StageEvent,
    VerdictReached,
)
from backend.intake.contract import BuildView
from backend.pages.ports import Holdings, Spread
from backend.pages.routes import Pages, router
from backend.pages.templates import Templates
from backend.problems import install_problem_handlers
from backend.verdict.guard import CalibratedRule, FixedRule
from backend.verdict.rules import RuleInForce
from knowledge.contracts import SearchHit, Source
from knowledge.errors import KnowledgeUnavailableError, ToolRefusedError
from storage.ask_figures import AskFigures
from storage.ask_search import AskFilter
from storage.asks import AskRecord
from storage.labels import LabelledAsk, LabelRecord
from tests.backend.factories import make_artefact
from tests.browser.answers import (
    ATTACK,
    find_passage,
    make_answer,
    make_calibrated_answer,
    make_clarification,
    make_hostile_answer,
    make_record,
    make_refusal,
)

ANSWERS = (
    make_answer(),
    make_refusal(),
    make_hostile_answer(),
    make_calibrated_answer(),
    make_clarification(),
)

TURNS = (ANSWERS[2], ANSWERS[0])


class StagedServices:
    """Answers by words of the question; ``gate`` holds an ask before its verdict.

    Attributes:
        gate: Cleared to hold, set to let through.
        cancelled: Set when an ask is given up by its caller.
        is_down: Whether the search is out of order.
    """

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.gate.set()
        self.cancelled = asyncio.Event()
        self.is_down = False
        self.asked: list[AskRequest] = []
        self.feedback: dict[str, tuple[str, str, str]] = {}

    async def ask(self, body: AskRequest, request: Request) -> AsyncGenerator[StageEvent]:
        self.asked.append(body)
        response = choose(body.question)
        yield Condensed(ask_id=response.id, search_question=response.search_question)
        if self.is_down:
            raise KnowledgeUnavailableError("the tool server cannot be reached")
        if "crowd" in body.question:
            raise OverloadedError("too many", retry_after_seconds=5)
        if "burst" in body.question:
            raise RuntimeError("a secret detail")
        yield EvidenceFound(hits=tuple(to_hit(response)))
        try:
            await self.gate.wait()
        except (asyncio.CancelledError, GeneratorExit):
            self.cancelled.set()
            raise
        yield VerdictReached(guard=response.guard)
        if response.guard.passed:
            yield AnswerDrafted(agent_refused=False, rounds=0)
        yield Done(response=response)

    async def find(self, ask_id: str, request: Request) -> AskResponse | None:
        return next((answer for answer in ANSWERS if answer.id == ask_id), None)

    async def earlier_turns(self, response: AskResponse, request: Request) -> Sequence[AskRecord]:
        return [make_record(answer) for answer in TURNS if response.conversation_id]

    async def holdings(self, request: Request) -> Holdings:
        if self.is_down:
            raise KnowledgeUnavailableError("the tool server cannot be reached")
        return Holdings(sources={"python-reference": 870, "vouch-docs": 42})

    async def spread(self) -> Spread | None:
        return Spread(
            name="sample",
            embedding_model="all-MiniLM-L6-v2",
            answerable=[0.42 + n * 0.022 for n in range(21)],
            unanswerable=[0.05 + n * 0.024 for n in range(21)],
        )

    async def passage(self, chunk_id: str, request: Request) -> Source:
        if self.is_down:
            raise KnowledgeUnavailableError("the tool server cannot be reached")
        try:
            return find_passage(chunk_id)
        except StopIteration as error:
            raise ToolRefusedError("unknown_chunk", "there is no such passage") from error

    async def history(
        self, wanted: AskFilter, *, limit: int, request: Request
    ) -> Sequence[AskRecord]:
        return [
            make_record(answer)
            for answer in ANSWERS
            if wanted.status in {"", answer.status} and wanted.before is None
        ][:limit]

    async def record(self, ask_id: str, request: Request) -> AskRecord | None:
        found = await self.find(ask_id, request)
        return make_record(found) if found else None

    async def models(self) -> Sequence[str]:
        return ("extractive", "small-chat")

    async def thumbs(self, ask_ids: Collection[str]) -> Mapping[str, str]:
        return {ask_id: thumb for ask_id, (thumb, _, _) in self.feedback.items()}

    async def keep_feedback(
        self, ask_id: str, *, thumb: str, reason: str, comment: str, request: Request
    ) -> bool:
        if await self.find(ask_id, request) is None:
            return False
        self.feedback[ask_id] = (thumb, reason, comment)
        return True


class StagedDesk:
    """A desk over the answers made by hand; one of them is labelled."""

    def __init__(self) -> None:
        artefact = make_artefact(threshold=0.6).model_copy(update={"name": ATTACK})
        self.kept = [
            KeptCalibration("kept-1", datetime(2026, 11, 29, tzinfo=UTC), True, artefact),
            KeptCalibration("kept-2", datetime(2026, 11, 20, tzinfo=UTC), False, make_artefact()),
        ]
        self.labels = {
            ANSWERS[1].id: LabelRecord(ask_id=ANSWERS[1].id, label="right", reviewer="me"),
            ANSWERS[2].id: LabelRecord(
                ask_id=ANSWERS[2].id, label="should_have_refused", reviewer="me", comment=ATTACK
            ),
        }

    async def label_of(self, ask_id: str) -> LabelRecord | None:
        return self.labels.get(ask_id)

    async def keep_label(self, ask_id: str, *, label: str, comment: str, request: Request) -> bool:
        self.labels[ask_id] = LabelRecord(ask_id=ask_id, label=label, comment=comment)
        return any(answer.id == ask_id for answer in ANSWERS)

    async def labelled(self, request: Request) -> Sequence[LabelledAsk]:
        return [
            LabelledAsk(make_record(answer), self.labels[answer.id])
            for answer in ANSWERS
            if answer.id in self.labels
        ]

    async def recorded(self, status: str, request: Request) -> Sequence[AskRecord]:
        records = [make_record(answer) for answer in ANSWERS if status in {"", answer.status}]
        if status == "abstained":
            hostile = make_record(
                make_refusal().model_copy(
                    update={
                        "search_question": ATTACK,
                        "retrieved_chunks": make_hostile_answer().retrieved_chunks,
                    }
                )
            )
            records.append(hostile)
        return records

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        return [(1.0, 0.0) if "egg" in text else (0.0, 1.0) for text in texts]

    async def rule(self) -> RuleInForce:
        if not self.kept:
            return RuleInForce(FixedRule(0.45, is_default=True))
        return RuleInForce(CalibratedRule(self.kept[0].artefact), self.kept[0].id, "drifted")

    async def calibrations(self) -> Sequence[KeptCalibration]:
        return self.kept

    async def figures(self, since: datetime, request: Request) -> Sequence[AskFigures]:
        now = datetime.now(UTC)
        return [
            AskFigures(
                now - timedelta(days=n % 30, minutes=n),
                "abstained" if n % (3 + n % 5) == 0 else "answered",
                0.6 + n % 4 / 10,
                "diverged" if n % 9 == 0 else "exact",
            )
            for n in range(90)
        ]

    async def builds(self) -> Sequence[BuildView]:
        return [
            BuildView(
                build=ATTACK, created_at="2026-11-29T22:14:00+00:00", is_current=True, chunks=912,
                documents=60, duplicates=3, profile=ATTACK, embedding_model="all-MiniLM-L6-v2",
                sources={"python-reference": 870, "vouch-docs": 42},
            )
        ]  # fmt: skip

    async def reports(self) -> Sequence[ReportCard]:
        return [
            ReportCard(
                name="abstention-set", title=ATTACK, created_at=datetime(2026, 11, 29, tzinfo=UTC),
                summary={"auroc": 0.96, ATTACK: 0.5, "mode": ATTACK},
            )
        ]  # fmt: skip

    async def report(self, name: str) -> str | None:
        if name != "abstention-set":
            return None
        script = "<script>document.title='owned'</script>"
        return (
            f"<!doctype html><html lang='en'><title>A report</title><h1>Kept</h1>{script}{ATTACK}"
        )


def choose(question: str) -> AskResponse:
    words = {"egg": ANSWERS[1], "attack": ANSWERS[2], "calibrated": ANSWERS[3], "vague": ANSWERS[4]}
    return next((answer for word, answer in words.items() if word in question), ANSWERS[0])


def to_hit(response: AskResponse) -> list[SearchHit]:
    fields = set(SearchHit.model_fields)
    return [
        SearchHit.model_validate(chunk.model_dump(include=fields))
        for chunk in response.retrieved_chunks
    ]


def create_stage(services: StagedServices) -> FastAPI:
    app = FastAPI()
    app.state.pages = Pages(
        services=services, desk=StagedDesk(), templates=Templates(), framed_by=("http://a.example",)
    )
    app.include_router(router)
    install_problem_handlers(app)
    return app


def create_api() -> FastAPI:
    """Return an API that answers by words of the question, as the stage does."""
    app = FastAPI()
    install_problem_handlers(app)

    @app.post("/ask")
    async def ask(body: AskRequest) -> AskResponse:
        if "crowd" in body.question:
            raise OverloadedError("too many", retry_after_seconds=5)
        return choose(body.question)

    return app
