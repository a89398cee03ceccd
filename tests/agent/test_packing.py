"""Packed evidence in an agent's hands: what it reads, what is written down, when it is undone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from agent.build import open_agent, packing_of
from agent.contract import AgentOutcome, AgentTask
from agent.extractive import ExtractiveAgent
from agent.packing import PackingRules
from agent.settings import AgentSettings
from knowledge.contracts import FilteredHit, SearchHit
from knowledge.errors import KnowledgeUnavailableError
from knowledge.packing import FittedPassage, FittedPassages, StageEntry, Stretch
from service.tokens import Claims
from tests import scripted_model as scripted
from tests.agent.fakes import FakeTools, hit
from tests.agent.test_rounds import SENTENCE, settings
from tests.environment import environment

QUESTION = "Which port does the page use?"
ANSWERS = "The page uses port 8000."
ASIDE = "Nobody remembers why."
FIRST = f"{ANSWERS} {ASIDE}"
OTHER = "The tool server listens elsewhere. It has a port of its own for that."
HITS = (hit("first", FIRST), hit("other", OTHER, cosine=0.5, rank=2))


@dataclass
class Packer:
    """Keeps what it is told to keep of each passage.

    Attributes:
        keeps: Words kept of a passage; a passage not named stays whole.
        calls: Passages, known passages, share and budget of each call.
    """

    keeps: dict[str, str] = field(default_factory=dict[str, str])
    texts: dict[str, str] = field(default_factory=lambda: {"first": FIRST, "other": OTHER})
    is_away: bool = False
    calls: list[tuple[tuple[str, ...], tuple[str, ...], float, int]] = field(
        default_factory=list[tuple[tuple[str, ...], tuple[str, ...], float, int]]
    )
    claims: Claims | None = None

    async def fit_evidence(
        self,
        query: str,
        chunk_ids: Sequence[str],
        claims: Claims,
        *,
        known_ids: Sequence[str] = (),
        share: float = 1.0,
        budget_tokens: int = 0,
    ) -> FittedPassages:
        self.calls.append((tuple(chunk_ids), tuple(known_ids), share, budget_tokens))
        self.claims = claims
        if self.is_away:
            raise KnowledgeUnavailableError("it is away")
        passages = tuple(self._passage(chunk_id) for chunk_id in chunk_ids)
        return FittedPassages(
            passages=passages,
            repeats=tuple(
                FilteredHit(chunk_id=each.chunk_id, reason="near_duplicate", duplicate_of="first")
                for each in passages
                if not each.text
            ),
            stages=(StageEntry(stage="search", passages=len(passages), tokens=9, saved_tokens=0),),
            origin_tokens=20,
            tokens=12,
            build="b1",
        )

    def _passage(self, chunk_id: str) -> FittedPassage:
        whole = self.texts[chunk_id]
        kept = self.keeps.get(chunk_id, whole)
        start = whole.index(kept)
        stretch = (Stretch(start=start, end=start + len(kept)),) if kept else ()
        return FittedPassage(chunk_id=chunk_id, text=kept, kept=stretch)


def task(top_k: int = 40) -> AgentTask:
    claims = Claims(ask_id="a", branch="gateway", scopes=("search",), labels=("staff",))
    return AgentTask(QUESTION, QUESTION, top_k, "a", claims)


async def ask(
    packer: Packer,
    script: scripted.Script = scripted.answers_from_evidence,
    *,
    tools: FakeTools | None = None,
    **changes: object,
) -> tuple[AgentOutcome, list[scripted.ChatRequest]]:
    chosen = settings("", **{"evidence_tokens": 12, **changes})
    with scripted.serve(script) as model:
        known = chosen.model_copy(update={"openai_base_url": model.url})
        async with open_agent(known, SENTENCE, packer=packer) as agent:
            outcome = await agent.answer(task(), tools or FakeTools(HITS))
        return outcome, model.requests


async def test_the_model_reads_the_packed_evidence_and_it_is_written_down_as_given() -> None:
    packer = Packer({"first": ANSWERS})
    outcome, requests = await ask(packer)
    assert requests[0].evidence[1].endswith(f"\n{ANSWERS}")
    assert ASIDE not in requests[0].text
    first, other = outcome.evidence
    assert (first.text, first.stored, first.kept) == (ANSWERS, FIRST, ((0, len(ANSWERS)),))
    assert (other.text, other.stored, other.kept) == (OTHER, None, None)
    assert [(each.status, each.query) for each in outcome.packing] == [("applied", QUESTION)]
    assert packer.calls == [(("first", "other"), (), 1.0, 12)]
    assert packer.claims is not None
    assert packer.claims.labels == ("staff",)
    assert outcome.degraded == ()


async def test_a_passage_left_out_is_still_received_but_not_put_before_the_model() -> None:
    outcome, requests = await ask(Packer({"other": ""}))
    assert set(requests[0].evidence) == {1}
    assert [(each.chunk_id, each.text, each.kept) for each in outcome.evidence] == [
        ("first", FIRST, None),
        ("other", "", ()),
    ]
    assert outcome.evidence[1].whole == OTHER


async def test_nothing_is_left_out_when_a_quote_would_change() -> None:
    outcome, requests = await ask(Packer({"first": ASIDE}))
    assert requests[0].evidence[1].endswith(FIRST)
    assert [each.status for each in outcome.packing] == ["kept_whole"]
    assert outcome.evidence[0].text == FIRST


async def test_nothing_is_left_out_when_nothing_would_be_left() -> None:
    outcome, _ = await ask(Packer({"first": "", "other": ""}))
    assert [each.status for each in outcome.packing] == ["kept_whole"]


async def test_a_tool_server_that_cannot_pack_costs_the_packing_and_says_so() -> None:
    outcome, requests = await ask(Packer(is_away=True))
    assert outcome.status == "answered"
    assert requests[0].evidence[1].endswith(FIRST)
    assert "packing_unavailable" in outcome.degraded
    assert [(each.status, each.error) for each in outcome.packing] == [
        ("unavailable", "knowledge_unavailable")
    ]


async def test_evidence_that_fits_is_not_sent_to_be_packed() -> None:
    packer = Packer()
    outcome, _ = await ask(packer, evidence_tokens=0)
    assert packer.calls == []
    assert outcome.packing == ()


async def test_what_the_context_has_no_room_for_is_packed_and_not_cut_at_its_end() -> None:
    long = f"{'Some words about nothing at all. ' * 200}{ANSWERS}"
    packer = Packer({"long": ANSWERS}, texts={"long": long})
    tools = FakeTools((hit("long", long),))
    outcome, requests = await ask(packer, tools=tools, evidence_tokens=0, model_context_tokens=1024)
    assert requests[0].evidence[1].endswith(f"\n{ANSWERS}")
    ((_, _, share, budget),) = packer.calls
    assert 0 < share < 0.5
    assert budget == 0
    assert "evidence_trimmed" not in outcome.degraded


async def test_a_second_search_is_packed_against_what_the_model_has() -> None:
    packer = Packer({"other": ""})
    tools = FakeTools((HITS[0],), by_query={"more": HITS})
    outcome, requests = await ask(
        packer,
        scripted.in_turn(scripted.call("search_kb", query="more"), scripted.say("It is 8000 [1].")),
        tools=tools,
        evidence_tokens=0,
    )
    assert packer.calls == [(("other",), ("first",), 1.0, 0)]
    told = str(requests[1].messages[-1]["content"])
    assert "BEGIN EVIDENCE" not in told
    assert "Nothing new, or no room: [2]." in told
    assert outcome.evidence[1].text == ""


async def test_packing_can_be_switched_off() -> None:
    packer = Packer({"first": ANSWERS})
    outcome, requests = await ask(packer, evidence_packing=False)
    assert packer.calls == []
    assert requests[0].evidence[1].endswith(FIRST)
    assert outcome.packing == ()


@pytest.mark.parametrize(("packing", "tokens"), [("false", None), ("true", 300)])
def test_the_environment_decides_how_evidence_is_packed(packing: str, tokens: int | None) -> None:
    with environment(VOUCH_EVIDENCE_PACKING=packing, VOUCH_EVIDENCE_TOKENS="300"):
        rules = packing_of(AgentSettings(), Packer())
    assert (rules.budget_tokens if rules else None) == tokens


async def test_the_extractive_agent_quotes_the_same_from_packed_evidence() -> None:
    packing = PackingRules(Packer({"other": ""}), 12)
    whole = await ExtractiveAgent(SENTENCE).answer(task(), FakeTools(HITS))
    packed = await ExtractiveAgent(SENTENCE, packing=packing).answer(task(), FakeTools(HITS))
    assert packed.text == whole.text
    assert [each.status for each in packed.packing] == ["applied"]


async def test_passages_without_room_are_no_evidence_until_they_are_shown() -> None:
    hits: tuple[SearchHit, ...] = tuple(
        hit(f"p{n}", f"Passage {n} says little. " * 8, rank=n) for n in range(1, 41)
    )
    outcome, requests = await ask(
        Packer(is_away=True), tools=FakeTools(hits), evidence_tokens=0,
        model_context_tokens=1024, agent_max_rounds=0,
    )  # fmt: skip
    shown = requests[0].evidence
    assert len(outcome.evidence) > len(shown)
    assert {each.number for each in outcome.evidence if each.text} == set(shown)
