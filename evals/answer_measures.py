"""Measures of one answer against its reference and its evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from agent.contract import Evidence
from backend.citing.citations import CitedAnswer
from backend.support.check import without_markers
from backend.support.tokens import canonical, tokenize
from evals.quotes import holds
from evals.sets import Question


@dataclass(frozen=True, slots=True)
class Overlap:
    """Words of an answer and of the reference, as bags, inflections and function words aside.

    Attributes:
        precision: Share of the answer's words that the reference has, in [0, 1].
        recall: Share of the reference's words that the answer has, in [0, 1].
    """

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """The harmonic mean of the two, 0 when both are 0."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def overlap(answer: str, reference: str) -> Overlap:
    """Compare the words of an answer with those of the reference."""
    ours, theirs = _bag(without_markers(answer)), _bag(reference)
    shared = (ours & theirs).total()
    return Overlap(
        precision=shared / ours.total() if ours else 0.0,
        recall=shared / theirs.total() if theirs else 0.0,
    )


def faithfulness(answer: CitedAnswer) -> float | None:
    """Return the mean support of an answer's claims; one without a citation counts as 0.

    None when it claims nothing.
    """
    claims = [each for each in answer.sentences if each.factual]
    return sum(each.support or 0.0 for each in claims) / len(claims) if claims else None


def cited_share(answer: CitedAnswer) -> float | None:
    """Return the share of an answer's claims that a citation stands at; None without claims."""
    claims = [each for each in answer.sentences if each.factual]
    return sum(each.support is not None for each in claims) / len(claims) if claims else None


def supported_share(answer: CitedAnswer) -> float | None:
    """Return the share of the cited claims whose citation bears them out; None without any."""
    cited = [each for each in answer.sentences if each.factual and each.support is not None]
    return sum(each.verified for each in cited) / len(cited) if cited else None


@dataclass(frozen=True, slots=True)
class Context:
    """The evidence against the labels.

    Attributes:
        precision: Share of the passages received that a label names; None without passages.
        recall: Share of the labels that some passage meets.
    """

    precision: float | None
    recall: float


def context(
    question: Question, evidence: Sequence[Evidence], sections_of: dict[str, tuple[str, ...]]
) -> Context:
    """Compare what an agent received with what a question is labelled with.

    Args:
        question: Labelled by sections, by hops, or by a quote.
        evidence: What was received.
        sections_of: Chunk id to ids of the sections it stands in.
    """
    met = [_labels_met(question, each, sections_of) for each in evidence]
    wanted = label_count(question)
    return Context(
        precision=sum(bool(each) for each in met) / len(met) if met else None,
        recall=len(set[int]().union(*met)) / wanted if wanted else 0.0,
    )


def label_count(question: Question) -> int:
    """Return how many labels a question has."""
    return len(question.hops) or len(question.relevant_ids) or int(bool(question.quote))


def _labels_met(
    question: Question, passage: Evidence, sections_of: dict[str, tuple[str, ...]]
) -> set[int]:
    if question.hops:
        return {i for i, hop in enumerate(question.hops) if holds(passage.text, hop.quote)}
    if question.relevant_ids:
        places = sections_of.get(passage.chunk_id, ())
        return {i for i, wanted in enumerate(question.relevant_ids) if wanted in places}
    quotes = (question.quote, *question.also) if question.quote else ()
    return {0} if any(holds(passage.text, quote) for quote in quotes) else set()


def _bag(text: str) -> Counter[str]:
    return Counter(canonical(token) for token in tokenize(text) if token.kind != "stop")
