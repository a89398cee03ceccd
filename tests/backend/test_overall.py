"""Parts of a question put together again."""

from __future__ import annotations

from backend.asking.overall import PartVerdict, join_outcomes, merge_hits, overall_verdict
from backend.verdict.guard import FixedRule, judge
from tests.backend.factories import make_outcome, make_result

RULE = FixedRule(threshold_cosine=0.5, is_default=True)


def part(text: str, *chunk_ids: str, best_cosine: float) -> PartVerdict:
    result = make_result(*chunk_ids, query=text, best_cosine=best_cosine)
    return PartVerdict(text, result, judge(result.signals, RULE))


def test_each_chunk_is_listed_once_at_its_first_place() -> None:
    merged = merge_hits([make_result("a", "b"), make_result("b", "c")])
    assert [hit.chunk_id for hit in merged] == ["a", "b", "c"]


def test_the_whole_passes_when_any_part_does_and_names_the_others() -> None:
    verdict = overall_verdict(
        [part("one?", "a", best_cosine=0.2), part("two?", "b", best_cosine=0.7)]
    )
    assert verdict.passed
    assert verdict.best_cosine == 0.7
    assert verdict.reason.endswith("Not enough was found for: one?")


def test_when_no_part_passes_the_closest_one_is_shown() -> None:
    verdict = overall_verdict(
        [part("one?", "a", best_cosine=0.2), part("two?", "b", best_cosine=0.4)]
    )
    assert (verdict.passed, verdict.best_cosine) == (False, 0.4)


def test_joined_evidence_has_one_number_for_each_chunk_and_markers_follow() -> None:
    first = make_outcome("A says so [1]. B too [2].", make_result("a", "b"))
    second = make_outcome("B again [1], C as well [2].", make_result("b", "c"))
    joined = join_outcomes([first, second])
    assert [(item.number, item.chunk_id) for item in joined.outcome.evidence] == [
        (1, "a"),
        (2, "b"),
        (3, "c"),
    ]
    assert joined.outcome.text == "A says so [1]. B too [2].\n\nB again [2], C as well [3]."
    assert len(joined.outcome.tool_calls) == 2


def test_markers_outside_a_parts_evidence_cannot_become_anothers() -> None:
    first = make_outcome("A [1][3].", make_result("a"))
    second = make_outcome("B [1].", make_result("b", "c"))
    joined = join_outcomes([first, second])
    assert joined.removed_markers == (3,)
    assert "[3]" not in joined.outcome.text


def test_a_part_the_agent_refused_is_left_out_and_all_refused_is_a_refusal() -> None:
    answered = make_outcome("A [1].", make_result("a"))
    refused = make_outcome("No idea.", make_result("b"), refused=True)
    assert join_outcomes([answered, refused]).outcome.text == "A [1]."
    assert join_outcomes([refused, refused]).outcome.status == "refused"
