"""The verdict on the evidence."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.verdict.guard import CalibratedRule, FixedRule, judge
from backend.verdict.thresholds import default_threshold
from retrieval.models import MODEL_TABLE
from tests.backend.factories import make_artefact, make_signals

FIXED = FixedRule(threshold_cosine=0.5, is_default=True)


def test_a_cosine_exactly_at_the_threshold_passes() -> None:
    assert judge(make_signals(0.5), FIXED).passed
    assert not judge(make_signals(math.nextafter(0.5, 0.0)), FIXED).passed


def test_the_reason_shows_two_numbers_that_can_be_told_apart() -> None:
    verdict = judge(make_signals(0.4999), FIXED)
    assert "0.4999, under the uncalibrated default of 0.5000" in verdict.reason


def test_the_reason_names_what_no_passage_mentions() -> None:
    verdict = judge(make_signals(0.41, missing_terms=("Tier 4", "quota")), FIXED)
    assert verdict.reason == (
        "The closest passage has cosine 0.41, under the uncalibrated default of 0.50; "
        "none of the passages found mentions 'Tier 4' or 'quota'."
    )


def test_a_threshold_set_by_hand_is_not_called_a_default() -> None:
    verdict = judge(make_signals(0.6), FixedRule(threshold_cosine=0.5, is_default=False))
    assert "threshold set by hand" in verdict.reason
    assert not verdict.calibrated


@pytest.mark.parametrize("rule", [FIXED, CalibratedRule(make_artefact())])
def test_nothing_found_is_a_refusal_in_every_mode(rule: FixedRule | CalibratedRule) -> None:
    verdict = judge(make_signals(None, hit_count=0), rule)
    assert not verdict.passed
    assert verdict.reason == "The search found no passage at all."


def test_the_calibrated_verdict_rests_on_the_probability_and_shows_the_parts() -> None:
    verdict = judge(make_signals(0.6), CalibratedRule(make_artefact()))
    assert verdict.passed
    assert verdict.probability == pytest.approx(1 / (1 + math.exp(-1.0)))
    assert verdict.threshold_kind == "probability"
    assert [part.name for part in verdict.contributions] == ["best_cosine"]
    assert verdict.contributions[0].contribution == pytest.approx(1.0)


def test_a_probability_exactly_at_the_threshold_passes() -> None:
    assert judge(make_signals(0.5), CalibratedRule(make_artefact(threshold=0.5))).passed


def test_a_floor_set_by_hand_holds_in_calibrated_mode() -> None:
    verdict = judge(make_signals(0.69), CalibratedRule(make_artefact(), floor_cosine=0.7))
    assert not verdict.passed
    assert "floor set by hand of 0.70" in verdict.reason
    assert judge(make_signals(0.7), CalibratedRule(make_artefact(), floor_cosine=0.7)).passed


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_fixed_mode_is_nothing_but_the_comparison(cosine: float, threshold: float) -> None:
    rule = FixedRule(threshold_cosine=threshold, is_default=False)
    assert judge(make_signals(cosine), rule).passed == (cosine >= threshold)


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_more_cosine_never_lowers_the_probability(one: float, other: float) -> None:
    rule = CalibratedRule(make_artefact())
    low, high = sorted((one, other))
    lower = judge(make_signals(low), rule).probability or 0.0
    assert lower <= (judge(make_signals(high), rule).probability or 0.0)


def test_every_model_the_engine_knows_has_a_default_of_its_own() -> None:
    for name in MODEL_TABLE:
        found = default_threshold(name)
        assert found.is_known, name
        assert found.cosine == MODEL_TABLE[name].default_threshold_cosine


def test_a_model_nobody_measured_gets_the_strict_default() -> None:
    found = default_threshold("somebody/else")
    assert (found.cosine, found.is_known) == (0.60, False)


def test_a_cosine_owed_to_a_title_does_not_pass_and_the_reason_says_so() -> None:
    lifted = make_signals(0.52, more={"own_cosine": 0.21, "own_sparse_per_term": 0.0})
    verdict = judge(lifted, FIXED)
    assert not verdict.passed
    assert verdict.best_cosine == 0.52
    assert "owes it to the title it stands under (without such passages it is 0.21)" in (
        verdict.reason
    )
    assert not judge(lifted, CalibratedRule(make_artefact())).passed
    assert not judge(lifted, CalibratedRule(make_artefact(threshold=0.0), floor_cosine=0.5)).passed


def test_a_cosine_that_was_earned_is_judged_as_it_is() -> None:
    earned = make_signals(0.52, more={"own_cosine": 0.52, "own_sparse_per_term": 0.5})
    for rule in (FIXED, CalibratedRule(make_artefact())):
        plain = judge(make_signals(0.52), rule)
        assert judge(earned, rule).model_copy(update={"signals": plain.signals}) == plain
