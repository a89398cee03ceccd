"""Cross-validated, calibrated and fixed verdicts."""

from __future__ import annotations

import pytest

from evals.abstention import evaluate_cross_validated, evaluate_fixed
from evals.crossvalidation import cross_validate
from evals.operating import AIM, Limits, threshold_for
from tests.evals.fakes import observation, separated


def test_separated_classes_are_told_apart_by_models_that_never_saw_them() -> None:
    summary = evaluate_cross_validated(separated(20)).summary()
    assert summary.auroc == 1.0
    assert summary.refusal_recall == 1.0
    assert summary.over_refusal <= 0.05
    assert set(summary.by_band) == {"short", "long", "far", "near", "adversarial_near"}
    assert summary.mode == "cross_validated"
    assert summary.bound.n == 40


def test_every_question_is_judged_once_in_every_repetition() -> None:
    observations = separated(20)
    found = cross_validate(observations, Limits(), repetitions=3)
    assert len(found.runs) == 3
    for run in found.runs:
        assert [one.observation for one in run] == list(observations)


def test_indistinct_classes_are_not_told_apart() -> None:
    assert evaluate_cross_validated(separated(20, overlap=1.0)).summary().auroc < 0.7


def test_always_answering_and_always_refusing_are_both_visible() -> None:
    always_answers = evaluate_fixed(separated(20), -1.0).summary()
    always_refuses = evaluate_fixed(separated(20), 1.01).summary()
    assert (always_answers.refusal_recall, always_answers.over_refusal) == (0.0, 0.0)
    assert (always_refuses.refusal_recall, always_refuses.over_refusal) == (1.0, 1.0)
    assert always_answers.bound.alpha == 1.0


def test_a_cosine_exactly_at_the_threshold_passes() -> None:
    questions = (observation("s", "short", 0.5), observation("u", "unanswerable", 0.5))
    assert evaluate_fixed(questions, 0.5).summary().over_refusal == 0.0


def test_refusal_f1_counts_wrong_refusals_against_it() -> None:
    assert evaluate_fixed(separated(20), 0.45).grounded_refusal_f1 == 1.0
    assert evaluate_fixed(separated(20), 1.01).grounded_refusal_f1 == pytest.approx(2 / 3)
    assert evaluate_fixed(separated(20), -1.0).grounded_refusal_f1 == 0.0


def test_threshold_aims_below_the_limit_of_each_kind() -> None:
    short = [observation(f"s{i}", "short", i / 100) for i in range(100)]
    long = [observation(f"l{i}", "long", 0.5 + i / 1000) for i in range(100)]
    threshold = threshold_for([*short, *long], lambda one: one.signals["focus"], Limits(0.1, 0.5))
    assert threshold == pytest.approx((7 + 8) / 200)
    assert sum(one.signals["focus"] < threshold for one in short) == round(AIM * 10)
