"""What the agent read against what the guard judged: the proof that they saw the same evidence.

Pure functions on chunk ids. The tool server's audit is the third witness: an agent that shows
evidence the server never gave it has diverged, whatever else agrees.
"""

from __future__ import annotations

from collections.abc import Sequence

from backend.contract import Fidelity
from knowledge.contracts import AuditRow

_TEXT_TOOLS = frozenset({"search_kb", "get_source", "get_related"})
_AGENT_BRANCHES = frozenset({"agent", "gateway"})


def compare_evidence(
    agent: Sequence[str], guard: Sequence[str], audit: Sequence[AuditRow] | None
) -> Fidelity:
    """Return how the two sets of chunks relate.

    ``exact``: the same chunks. ``superset``: the agent read all the guard judged, and more.
    ``diverged``: it lacks some of them, or shows some the tool server never gave it. ``unknown``:
    the audit cannot be read, so nothing is proven.

    Args:
        agent: Chunk ids the agent received, as its runtime captured them.
        guard: Chunk ids of the guard's own search.
        audit: The tool server's rows for the ask; None when they cannot be read.
    """
    agent_only = _without(agent, guard)
    guard_only = _without(guard, agent)
    shared = tuple(chunk_id for chunk_id in dict.fromkeys(guard) if chunk_id in set(agent))
    if audit is None:
        return Fidelity(
            verdict="unknown", shared=shared, agent_only=agent_only, guard_only=guard_only
        )
    unproven = _without(agent, audited_chunks(audit))
    matching = "superset" if agent_only else "exact"
    verdict = "diverged" if unproven or guard_only else matching
    return Fidelity(verdict=verdict, shared=shared, agent_only=agent_only, guard_only=guard_only)


def audited_chunks(audit: Sequence[AuditRow]) -> tuple[str, ...]:
    """Return the ids of all chunks whose text the tool server gave the agent, in order."""
    found = (
        chunk_id
        for row in audit
        if row.branch in _AGENT_BRANCHES and row.tool in _TEXT_TOOLS and not row.error
        for chunk_id in row.chunk_ids
    )
    return tuple(dict.fromkeys(found))


def _without(ids: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    excluded = set(others)
    return tuple(chunk_id for chunk_id in dict.fromkeys(ids) if chunk_id not in excluded)
