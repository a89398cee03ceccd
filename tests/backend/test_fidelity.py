"""Whether the agent read what the guard judged."""

from __future__ import annotations

from backend.asking.fidelity import audited_chunks, compare_evidence
from tests.backend.factories import make_audit_row


def test_the_same_chunks_are_exact_in_any_order() -> None:
    found = compare_evidence(["b", "a"], ["a", "b"], [make_audit_row("a", "b")])
    assert (found.verdict, found.shared) == ("exact", ("a", "b"))


def test_more_than_the_guard_saw_is_a_superset() -> None:
    audit = [make_audit_row("a", "b"), make_audit_row("c", tool="get_source")]
    found = compare_evidence(["a", "b", "c"], ["a", "b"], audit)
    assert (found.verdict, found.agent_only) == ("superset", ("c",))


def test_less_than_the_guard_saw_is_diverged_with_the_ids() -> None:
    found = compare_evidence(["a", "x"], ["a", "b"], [make_audit_row("a", "x")])
    assert (found.verdict, found.agent_only, found.guard_only) == ("diverged", ("x",), ("b",))


def test_evidence_the_server_never_gave_is_diverged() -> None:
    audit = [make_audit_row("a"), make_audit_row("b", branch="guard")]
    assert compare_evidence(["a", "b"], ["a", "b"], audit).verdict == "diverged"


def test_without_the_audit_nothing_is_proven() -> None:
    assert compare_evidence(["a"], ["a"], None).verdict == "unknown"


def test_only_text_the_agent_received_counts_as_audited() -> None:
    audit = [
        make_audit_row("a"),
        make_audit_row("b", branch="guard"),
        make_audit_row("c", error="unknown_chunk"),
        make_audit_row("d", tool="list_sections"),
        make_audit_row("e", branch="gateway"),
    ]
    assert audited_chunks(audit) == ("a", "e")
