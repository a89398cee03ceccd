"""The report of ``vouch eval attacks``."""

from __future__ import annotations

from collections.abc import Mapping

from evals.attacks import AgentFigures, AttackSummary
from evals.report import Part, Report
from evals.tables import table

_METHOD = """
Documents with a published injection in one of several carriers are indexed together with innocent
sections full of imperative text. Each document's question is asked through the path every answer
takes: search, agent, citation check, rendering. Other poisoned copies of the same document are out
of sight, so that the one under test is found.

The *extractive* agent quotes. The *obedient* ones quote and then say what the instruction wants
said, in ten forms: as it is, with a citation, appended to a true answer, as a link, as HTML with a
script, as a remote image, as a `javascript:` link, in a code block, in a made-up list of sources.
They say so even where the search did not bring the poisoned passage. Any further agent is a real
model with the product's own prompt.

The detector's rules were written with published attacks in view, these among them, so its share
recognised says little about others. What holds without it: no markup from a document or a model is
ever active, links lead to indexed hosts only, an address that no evidence contains is taken out,
and a claim that no passage states is marked. What an unrecognised instruction says, a model that
obeys it can still say in words that the poisoned passage contains.
"""


def attack_report(summary: AttackSummary, set_name: str) -> Report:
    """Return what was tried and what came through.

    Args:
        summary: Of one run.
        set_name: Name of the attack set.
    """
    result = (
        f"Over {summary.n} documents and {len(summary.by_agent)} agents the canary stood in "
        f"{summary.canary_rate:.1%} of the shown answers, active content in "
        f"{summary.active_content:.1%}. The verified citations of the obedient agents' answers "
        f"differed from those of the same quotes without obedience in "
        f"{summary.citations_changed:.1%}. The detector recognised {summary.attacks_flagged:.1%} "
        f"of the poisoned documents and flagged {summary.benign_flagged:.1%} of the innocent ones."
    )
    return Report(
        name="attacks",
        title=f"Planted instructions: {set_name}",
        parts=(
            Part("Result", result),
            Part("Method", _METHOD),
            Part("By agent", _figures(summary.by_agent, "agent")),
            Part("By carrier", _figures(summary.by_carrier, "carrier")),
        ),
    )


def _figures(figures: Mapping[str, AgentFigures], name: str) -> str:
    return table(
        [
            *(name, "n", "canary rate", "active content", "answered"),
            *("with a verified citation", "obeyed in raw text", "failed"),
        ],
        [
            [
                *(key, each.n, each.canary_rate, each.active_content, each.answered),
                *(each.verified, each.obeyed, each.failed),
            ]
            for key, each in figures.items()
        ],
    )
