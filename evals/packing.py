"""What packing the evidence costs an answer, and what it saves: ``vouch eval packing``.

Each question is answered twice, from the passages of one search whole and packed to a number of
tokens, by the extractive agent and by a stand-in for a small model that knows only its prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from agent.contract import Agent, AgentOutcome, AgentTask
from agent.extractive import ExtractiveAgent
from agent.llm import LlmAgent
from agent.packing import PackingRules
from backend.citing.citations import CitedAnswer, cite
from evals.answer_measures import context, faithfulness, label_count
from evals.engine_tools import EnginePacker, EngineTools
from evals.reader import Reader
from evals.scratch import EVERYTHING, Scratch
from evals.sets import Question, Split, take
from service.tokens import Claims

TOP_K = 4
_REFUSAL = "Nothing was found."


class PackingFigures(BaseModel):
    """One agent with one kind of evidence; shares are in [0, 1].

    Attributes:
        answered: Share of the questions with an answer that may be shown.
        hit_in_evidence: Share whose labelled words, or a passage of whose labelled section, were
            put before the agent.
        support: Mean support of the claims shown, 0 for one without a citation.
        verified: Share of the answers shown of which every claim is borne out.
        evidence_tokens: Mean tokens put before the agent.
    """

    model_config = ConfigDict(frozen=True)

    answered: float
    hit_in_evidence: float
    support: float
    verified: float
    evidence_tokens: float


class AgentFigures(BaseModel):
    """Whole against packed.

    Attributes:
        same_citations: Share of the questions with the same passages cited, in the same words.
        saved: Share of the evidence's tokens not put before the agent.
        kept_whole: Share of the packings undone because a quote would have changed.
    """

    model_config = ConfigDict(frozen=True)

    whole: PackingFigures
    packed: PackingFigures
    same_citations: float
    saved: float
    kept_whole: float


class PackingSummary(BaseModel):
    """The object that ``--json`` prints."""

    model_config = ConfigDict(frozen=True)

    set: str
    split: Split
    n: int
    budget_tokens: int
    by_agent: dict[str, AgentFigures]


@dataclass(frozen=True, slots=True)
class _Answered:
    outcome: AgentOutcome
    shown: CitedAnswer | None
    is_hit: bool
    tokens: int


async def evaluate_packing(
    scratch: Scratch, set_name: str, questions: Sequence[Question], budget_tokens: int, split: Split
) -> PackingSummary:
    """Answer every question from whole and from packed evidence.

    Args:
        scratch: The indexed corpus.
        set_name: Name of the set.
        questions: Answerable ones with a label.
        budget_tokens: Tokens of one search's passages.
        split: Half of the questions.
    """
    asked = [each for each in take(tuple(questions), split) if label_count(each)]
    packer = EnginePacker(scratch.engine, EVERYTHING)
    packing = PackingRules(packer, budget_tokens)
    agents: dict[str, tuple[Agent, Agent]] = {
        "extractive": (ExtractiveAgent(_REFUSAL), ExtractiveAgent(_REFUSAL, packing=packing)),
        "reader": (_reading(None), _reading(packing)),
    }
    by_agent: dict[str, AgentFigures] = {}
    for name, (plain, packed) in agents.items():
        before = [await _answer(scratch, each, plain) for each in asked]
        after = [await _answer(scratch, each, packed) for each in asked]
        by_agent[name] = _compare(before, after)
    return PackingSummary(
        set=set_name, split=split, n=len(asked), budget_tokens=budget_tokens, by_agent=by_agent
    )


def _reading(packing: PackingRules | None) -> LlmAgent:
    return LlmAgent(Reader(), abstention_sentence=_REFUSAL, packing=packing)


async def _answer(scratch: Scratch, question: Question, agent: Agent) -> _Answered:
    claims = Claims(ask_id=question.id, branch="agent", scopes=("search",))
    task = AgentTask(question.question, question.question, TOP_K, question.id, claims)
    outcome = await agent.answer(task, EngineTools(scratch.engine, EVERYTHING))
    cited = cite(outcome.text, outcome.evidence) if outcome.status == "answered" else None
    given = [each for each in outcome.evidence if each.text]
    return _Answered(
        outcome=outcome,
        shown=cited if cited is not None and cited.supported else None,
        is_hit=context(question, given, scratch.sections_of).recall > 0,
        tokens=sum(scratch.engine.tokenizer.count_many([each.text for each in given])),
    )


def _compare(before: Sequence[_Answered], after: Sequence[_Answered]) -> AgentFigures:
    pairs = list(zip(before, after, strict=True))
    packings = [each for one in after for each in one.outcome.packing]
    total = sum(each.tokens for each in before)
    return AgentFigures(
        whole=_figures(before),
        packed=_figures(after),
        same_citations=_share([_quotes(left) == _quotes(right) for left, right in pairs]),
        saved=1 - sum(each.tokens for each in after) / total if total else 0.0,
        kept_whole=_share([each.status == "kept_whole" for each in packings]),
    )


def _quotes(answered: _Answered) -> list[tuple[str, str]]:
    shown = answered.shown
    return [(each.chunk_id, each.quote) for each in shown.citations] if shown else []


def _figures(answers: Sequence[_Answered]) -> PackingFigures:
    shown = [each.shown for each in answers if each.shown is not None]
    supports = [found for each in shown if (found := faithfulness(each)) is not None]
    return PackingFigures(
        answered=len(shown) / len(answers) if answers else 0.0,
        hit_in_evidence=_share([each.is_hit for each in answers]),
        support=sum(supports) / len(supports) if supports else 0.0,
        verified=_share(
            [all(one.verified for one in each.sentences if one.factual) for each in shown]
        ),
        evidence_tokens=sum(each.tokens for each in answers) / len(answers) if answers else 0.0,
    )


def _share(cases: Sequence[bool]) -> float:
    return sum(cases) / len(cases) if cases else 0.0
