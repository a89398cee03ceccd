"""How good the answers are: ``vouch eval answers SET``, apart from how good retrieval is.

Correctness against the reference answer (words, embedding, and a model's judgement when one is
given), faithfulness to the evidence, and how much of the evidence was to the point. A refusal of an
answerable question has no correctness; its share is reported instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import BaseModel, ConfigDict

from agent.contract import Agent, AgentTask
from agent.errors import AgentError
from backend.citing.citations import CitedAnswer, cite
from backend.support.check import without_markers
from evals.answer_judge import Judge
from evals.answer_measures import (
    Overlap,
    cited_share,
    context,
    faithfulness,
    label_count,
    overlap,
    supported_share,
)
from evals.engine_tools import EngineTools
from evals.quotes import holds
from evals.scratch import EVERYTHING, Scratch
from evals.sets import Question
from retrieval.query_embedding import QueryEmbedder

TOP_K = 4


class AnswerFigures(BaseModel):
    """One agent on one kind of question; means over the answers shown, None without any.

    Attributes:
        answered: Share of the questions with an answer that may be shown.
        failed: Share on which the agent broke.
        token_f1: Words shared with the reference; long quotes pay for every further word.
        token_recall: Share of the reference's words that the answer has.
        cosine: Embedding of the answer against that of the reference.
        judged_correct: Share a model judged correct; None without a model.
        faithfulness: Mean support of the claims, 0 for one without a citation.
        cited: Share of the claims that a citation stands at.
        supported: Share of those whose citation bears them out: another thing than being cited.
        context_precision: Share of the passages received that a label names.
        context_recall: Share of the labels that some passage received meets.
    """

    model_config = ConfigDict(frozen=True)

    n: int
    answered: float
    failed: float
    token_f1: float | None
    token_recall: float | None
    cosine: float | None
    judged_correct: float | None
    faithfulness: float | None
    cited: float | None
    supported: float | None
    context_precision: float | None
    context_recall: float | None


class TwoHopFigures(BaseModel):
    """What one search brings of a question in two steps, and what a second one adds.

    Attributes:
        one_search: Share of the questions of which one search brings every passage needed.
        one_longer_search: Share when that search returns twice as many passages.
        second_search: Share when a second search is made for what the first passage names.
    """

    model_config = ConfigDict(frozen=True)

    n: int
    one_search: float
    one_longer_search: float
    second_search: float


class AnswerSummary(BaseModel):
    """The object that ``--json`` prints: by agent, by kind of question."""

    model_config = ConfigDict(frozen=True)

    set: str
    n: int
    by_agent: dict[str, dict[str, AnswerFigures]]
    two_hop: TwoHopFigures | None


@dataclass(frozen=True, slots=True)
class Answered:
    """One question as one agent answered it; what was not shown has no measures.

    Attributes:
        shown: The checked answer; None on a refusal.
        has_failed: Whether the agent broke.
        words: Against the reference; None without an answer or a reference.
        cosine: Likewise, of the embeddings.
        is_correct: Likewise, as judged; None without a judge.
    """

    question: Question
    shown: CitedAnswer | None
    has_failed: bool = False
    words: Overlap | None = None
    cosine: float | None = None
    is_correct: bool | None = None
    faithfulness: float | None = None
    cited: float | None = None
    supported: float | None = None
    context_precision: float | None = None
    context_recall: float | None = None


async def evaluate_answers(
    scratch: Scratch,
    questions: Sequence[Question],
    agents: Mapping[str, Agent],
    embedder: QueryEmbedder,
    *,
    judge: Judge | None = None,
) -> dict[str, tuple[Answered, ...]]:
    """Ask every agent every question.

    Args:
        scratch: The indexed corpus.
        questions: Answerable ones.
        agents: By name.
        embedder: Compares answers with references.
        judge: A model's opinion; None goes without.

    Returns:
        Agent name to its answers, in the order of the questions.
    """
    return {
        name: tuple(
            [await _answer(scratch, question, agent, embedder, judge) for question in questions]
        )
        for name, agent in agents.items()
    }


def summarise(
    set_name: str, results: Mapping[str, Sequence[Answered]], two_hop: TwoHopFigures | None
) -> AnswerSummary:
    """Return the means, by agent and by kind of question."""
    by_agent: dict[str, dict[str, AnswerFigures]] = {}
    for name, answers in results.items():
        kinds: dict[str, list[Answered]] = {"all": list(answers)}
        for each in answers:
            kinds.setdefault(each.question.kind, []).append(each)
        by_agent[name] = {kind: _figures(group) for kind, group in kinds.items()}
    count = len(next(iter(results.values()), ()))
    return AnswerSummary(set=set_name, n=count, by_agent=by_agent, two_hop=two_hop)


async def measure_two_hop(scratch: Scratch, questions: Sequence[Question]) -> TwoHopFigures | None:
    """Compare one search with a second one for what the first passage names.

    The second search is the one the question is labelled with, as a reader of the first passage
    would make it; whether an agent makes it is for the figures by agent.
    """
    if not questions:
        return None
    once, longer, twice = 0, 0, 0
    for question in questions:
        first = await _texts(scratch, question.question, TOP_K)
        second = await _texts(scratch, question.second_search, TOP_K)
        once += _meets_all(question, first)
        longer += _meets_all(question, await _texts(scratch, question.question, 2 * TOP_K))
        twice += _meets_all(question, first + second)
    n = len(questions)
    return TwoHopFigures(
        n=n, one_search=once / n, one_longer_search=longer / n, second_search=twice / n
    )


async def _answer(
    scratch: Scratch,
    question: Question,
    agent: Agent,
    embedder: QueryEmbedder,
    judge: Judge | None,
) -> Answered:
    tools = EngineTools(scratch.engine, EVERYTHING)
    task = AgentTask(question.question, question.question, TOP_K, question.id)
    try:
        outcome = await agent.answer(task, tools)
    except AgentError:
        return Answered(question, None, has_failed=True)
    found = context(question, outcome.evidence, scratch.sections_of)
    cited = cite(outcome.text, outcome.evidence) if outcome.status == "answered" else None
    shown = cited if cited is not None and cited.supported else None
    recall = found.recall if label_count(question) else None
    if shown is None:
        return Answered(question, None, context_precision=found.precision, context_recall=recall)
    has_reference = bool(question.answer)
    return Answered(
        question=question,
        shown=shown,
        words=overlap(shown.text, question.answer) if has_reference else None,
        cosine=await _cosine(embedder, shown.text, question.answer) if has_reference else None,
        is_correct=await judge.is_correct(question, shown.text) if judge else None,
        faithfulness=faithfulness(shown),
        cited=cited_share(shown),
        supported=supported_share(shown),
        context_precision=found.precision if label_count(question) else None,
        context_recall=recall,
    )


async def _cosine(embedder: QueryEmbedder, answer: str, reference: str) -> float:
    """Compare embeddings; what is longer than the model reads is pooled from its pieces."""
    words = without_markers(answer)
    return float(np.dot(await embedder.embed(words), await embedder.embed(reference)))


async def _texts(scratch: Scratch, query: str, top_k: int) -> list[str]:
    outcome = await scratch.search(query, top_k=top_k)
    return [hit.chunk.text for hit in outcome.hits]


def _meets_all(question: Question, texts: Sequence[str]) -> bool:
    return all(any(holds(text, hop.quote) for text in texts) for hop in question.hops)


def _figures(answers: Sequence[Answered]) -> AnswerFigures:
    return AnswerFigures(
        n=len(answers),
        answered=_share([each.shown is not None for each in answers]),
        failed=_share([each.has_failed for each in answers]),
        token_f1=_mean([each.words.f1 for each in answers if each.words]),
        token_recall=_mean([each.words.recall for each in answers if each.words]),
        cosine=_mean([each.cosine for each in answers]),
        judged_correct=_mean([each.is_correct for each in answers]),
        faithfulness=_mean([each.faithfulness for each in answers]),
        cited=_mean([each.cited for each in answers]),
        supported=_mean([each.supported for each in answers]),
        context_precision=_mean([each.context_precision for each in answers]),
        context_recall=_mean([each.context_recall for each in answers]),
    )


def _share(cases: Sequence[bool]) -> float:
    return sum(cases) / len(cases) if cases else 0.0


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
