"""The report of ``vouch eval answers``."""

from __future__ import annotations

from evals.answers import AnswerSummary, TwoHopFigures
from evals.report import Part, Report
from evals.tables import table

_METHOD = """
Every agent is asked every answerable question through the path every answer takes. *Token F1* and
*token recall* compare the words of the shown answer with those of the reference, inflections and
function words aside: an agent that quotes whole sentences pays in F1 for every further word.
*Cosine* compares their embeddings. *Faithfulness* is the mean support of the claims, 0 for a claim
without a citation; *cited* is the share of claims with a citation, *supported* the share of those
that the cited passage bears out. *Context precision* and *recall* compare the passages the agent
received with the labels. A refusal has no correctness; its share is one minus *answered*.
"""
_FIELDS = (
    "n",
    "answered",
    "failed",
    "token_f1",
    "token_recall",
    "cosine",
    "judged_correct",
    "faithfulness",
    "cited",
    "supported",
    "context_precision",
    "context_recall",
)


def answer_report(summary: AnswerSummary) -> Report:
    """Return the figures by agent and kind of question."""
    rows = [
        [agent, kind, *(getattr(figures, field) for field in _FIELDS)]
        for agent, kinds in summary.by_agent.items()
        for kind, figures in kinds.items()
    ]
    head = ["agent", "questions", *(field.replace("_", " ") for field in _FIELDS)]
    parts = [Part("Result", table(head, rows)), Part("Method", _METHOD)]
    if summary.two_hop is not None:
        parts.append(Part("Questions in two steps", _two_hop(summary.two_hop)))
    return Report(name=f"answers-{summary.set}", title=f"Answers: {summary.set}", parts=parts)


def _two_hop(figures: TwoHopFigures) -> str:
    return (
        f"{figures.n} questions name a thing only by what one passage says of it and ask what "
        "another passage says. Every passage needed is brought by one search for "
        f"{figures.one_search:.0%} of them, by one that returns twice as many for "
        f"{figures.one_longer_search:.0%}, and with a second search for what the first passage "
        f"names for {figures.second_search:.0%}."
    )
