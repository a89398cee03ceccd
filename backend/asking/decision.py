"""Answer or refuse: every reason to abstain, in the order in which it wins.

The guard comes before anything the agent said or failed at; the agent's own refusal comes before
the check of its citations. Pure functions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.contract import AgentOutcome
from agent.sufficiency import Sufficiency
from backend.citing.citations import CitedAnswer
from backend.contract import Abstention, AbstentionReason, GuardView

_DETAILS: dict[AbstentionReason, str] = {
    "agent_refused": "The passages were close enough, but they do not hold the answer.",
    "no_evidence": "No passage was read before answering, so nothing vouches for an answer.",
    "unsupported_answer": "What was written could not be found in the passages that were read.",
}


def refuse_by_guard(guard: GuardView, source: str = "") -> Abstention | None:
    """Return the refusal of the guard, or None when the evidence is strong enough.

    Args:
        guard: The verdict.
        source: The only source searched; empty for all. It is named when nothing was found, as a
            mistyped name is the likeliest reason.
    """
    if guard.passed:
        return None
    if guard.best_cosine is not None:
        return Abstention(reason="weak_evidence", detail=guard.reason)
    detail = f"There is no passage at all in the source {source!r}." if source else guard.reason
    return Abstention(reason="no_hits", detail=detail)


def refuse_by_agent(outcome: AgentOutcome, sentence: str) -> Abstention | None:
    """Return the refusal in what the agent did, or None when it answered.

    Args:
        outcome: What the agent came back with.
        sentence: The fixed sentence of a refusal.
    """
    has_searched = any(call.tool == "search_kb" and not call.error for call in outcome.tool_calls)
    if not has_searched:
        return _refusal("no_evidence")
    if outcome.status == "refused" or is_refusal(outcome.text, sentence):
        return _refusal("agent_refused")
    return None if outcome.evidence else _refusal("no_evidence")


def refuse_by_sufficiency(found: Sufficiency) -> Abstention | None:
    """Return the refusal of the sufficiency check, or None when it saw the answer."""
    if found.is_sufficient:
        return None
    missing = f": {found.missing}" if found.missing else ""
    detail = f"The passages are close, but a fact is not in them{missing}."
    return Abstention(reason="insufficient_evidence", detail=detail)


def refuse_by_citations(cited: CitedAnswer) -> Abstention | None:
    """Return the refusal for an answer nothing supports, or None."""
    return None if cited.supported and cited.text else _refusal("unsupported_answer")


def is_refusal(text: str, sentence: str) -> bool:
    """Whether a text is nothing but the fixed sentence, whatever its markers and punctuation."""
    return _plain(text) in {"", _plain(sentence)}


def not_found_parts(failing: Sequence[str], outcome: AgentOutcome | None) -> tuple[str, ...]:
    """Return the parts without an answer: the guard's and the agent's, each once."""
    return tuple(dict.fromkeys((*failing, *(outcome.not_found if outcome else ()))))


def _refusal(reason: AbstentionReason) -> Abstention:
    return Abstention(reason=reason, detail=_DETAILS[reason])


def _plain(text: str) -> str:
    without_markers = re.sub(r"\[\d+\]", " ", text)
    return " ".join(re.findall(r"\w+", without_markers.casefold()))
