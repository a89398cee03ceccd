"""Runs a recorded ask again: the same searches and verdict, and what is different now.

The agent is not run again: a model may say something else each time, and the verdict never rests
on what it says.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from backend.asking.overall import PartVerdict, overall_verdict
from backend.asking.ports import IndexSource, Knowledge
from backend.contract import GuardView
from backend.verdict.guard import Rule, judge
from backend.verdict.rules import RuleBook
from knowledge.contracts import IndexInfo, SearchResult, Wire
from knowledge.errors import BuildGoneError
from service.tokens import Claims
from storage.asks import AskRecord, JsonObject

ReplayAgainst = Literal["recorded", "present"]


class ReplayedPart(Wire):
    """One part of the question, then and now."""

    text: str
    hits_then: tuple[str, ...] = Field(description="Chunk ids in order.")
    hits_now: tuple[str, ...]
    changed_cosines: dict[str, tuple[float, float]] = Field(
        default_factory=dict, description="Chunks found both times whose cosine differs."
    )
    changed_signals: dict[str, tuple[float | None, float | None]] = Field(default_factory=dict)
    passed_then: bool
    passed_now: bool


class Replay(Wire):
    """What a replay found."""

    ask_id: str
    against: ReplayAgainst
    build_then: str
    build_now: str
    guard_then: GuardView
    guard_now: GuardView
    parts: tuple[ReplayedPart, ...]
    same_evidence: bool = Field(description="The same chunks in the same order, part by part.")
    same_verdict: bool = Field(description="Verdict, mode, threshold and every number agree.")
    notes: tuple[str, ...] = Field(default=(), description="What could not be done as recorded.")


class Replayer:
    """Runs records again.

    Args:
        knowledge: The tool server.
        index: Which build is in force.
        rules: Finds the rule of the record, or the present one.
    """

    def __init__(self, knowledge: Knowledge, index: IndexSource, rules: RuleBook) -> None:
        self._knowledge = knowledge
        self._index = index
        self._rules = rules

    async def replay(self, record: AskRecord, against: ReplayAgainst = "recorded") -> Replay:
        """Search and judge again.

        Args:
            record: Of the ask.
            against: ``recorded`` uses the build and rule of the record, ``present`` those in force.

        Raises:
            KnowledgeError: The search cannot run.
            StorageError: The calibration of the record cannot be read.
        """
        then = [_read_part(part) for part in record.searches]
        guard_then = GuardView.model_validate(record.verdict)
        notes: list[str] = []
        build = record.build if against == "recorded" else ""
        try:
            found = await self._search(record, then, build)
        except BuildGoneError:
            notes.append("build_gone")
            found = await self._search(record, then, "")
        rule = await self._rule(record, guard_then, found[0].index, against, notes)
        now = tuple(
            PartVerdict(part.text, result, judge(result.signals, rule))
            for part, result in zip(then, found, strict=True)
        )
        parts = tuple(_compare(*pair) for pair in zip(then, now, strict=True))
        guard_now = overall_verdict(now)
        return Replay(
            ask_id=record.id,
            against=against,
            build_then=record.build,
            build_now=found[0].index.build,
            guard_then=guard_then,
            guard_now=guard_now,
            parts=parts,
            same_evidence=all(part.hits_then == part.hits_now for part in parts),
            same_verdict=guard_then == guard_now,
            notes=tuple(notes),
        )

    async def _search(
        self, record: AskRecord, parts: list[PartVerdict], build: str
    ) -> list[SearchResult]:
        claims = Claims(
            ask_id="",
            branch="direct",
            scopes=("search",),
            labels=tuple(record.labels),
            build=build,
        )
        tools = self._knowledge.bind(claims, source=record.source, top_k=record.top_k)
        return [await tools.search_kb(part.text, record.top_k, record.source) for part in parts]

    async def _rule(
        self,
        record: AskRecord,
        guard: GuardView,
        index: IndexInfo,
        against: ReplayAgainst,
        notes: list[str],
    ) -> Rule:
        if against == "recorded":
            calibration = record.versions.get("calibration", "")
            rule = await self._rules.recorded_rule(guard, calibration, index)
            if rule is not None:
                return rule
            notes.append("calibration_gone")
        return (await self._rules.rule_for(index)).rule


def _read_part(part: JsonObject) -> PartVerdict:
    return PartVerdict(
        text=str(part["text"]),
        search=SearchResult.model_validate(part["search"]),
        guard=GuardView.model_validate(part["guard"]),
    )


def _compare(then: PartVerdict, now: PartVerdict) -> ReplayedPart:
    cosines = {hit.chunk_id: hit.cosine for hit in then.search.hits}
    return ReplayedPart(
        text=then.text,
        hits_then=tuple(hit.chunk_id for hit in then.search.hits),
        hits_now=tuple(hit.chunk_id for hit in now.search.hits),
        changed_cosines={
            hit.chunk_id: (cosines[hit.chunk_id], hit.cosine)
            for hit in now.search.hits
            if cosines.get(hit.chunk_id, hit.cosine) != hit.cosine
        },
        changed_signals=_changed_signals(then, now),
        passed_then=then.guard.passed,
        passed_now=now.guard.passed,
    )


def _changed_signals(
    then: PartVerdict, now: PartVerdict
) -> dict[str, tuple[float | None, float | None]]:
    before, after = _numbers(then), _numbers(now)
    return {
        name: (before.get(name), after.get(name))
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    }


def _numbers(part: PartVerdict) -> dict[str, float]:
    signals = part.search.signals
    named = signals.model_dump(exclude={"more", "missing_terms"}, exclude_none=True)
    return {**{name: float(number) for name, number in named.items()}, **signals.more}
