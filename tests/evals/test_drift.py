"""Does the check see a shift, and only a shift?"""

from __future__ import annotations

import numpy as np

from backend.verdict.calibration_artefact import Target
from evals.calibrate import calibrate
from evals.drift import LEAST_LIVE, check_drift
from tests.evals.fakes import separated
from tests.evals.test_calibrate import MANIFEST

ARTEFACT = calibrate(
    separated(60, overlap=0.3),
    MANIFEST,
    name="set",
    target=Target(kind="over_refusal", limit=0.05),
).artefact


def live(n: int, share_answerable: float, seed: int = 3) -> list[dict[str, float]]:
    pool = separated(200, overlap=0.3, seed=seed)
    random = np.random.default_rng(seed)
    positives = [one.signals for one in pool if one.is_answerable]
    negatives = [one.signals for one in pool if not one.is_answerable]
    answered = round(share_answerable * n)
    return [
        *(positives[at] for at in random.integers(0, len(positives), answered)),
        *(negatives[at] for at in random.integers(0, len(negatives), n - answered)),
    ]


def test_questions_like_those_of_the_calibration_pass() -> None:
    report = check_drift(ARTEFACT, live(200, 0.5))
    assert report.passed, report.message
    assert report.answerable_share is not None
    assert abs(report.answerable_share - 0.5) < 0.15


def test_another_share_of_unanswerable_questions_is_no_drift() -> None:
    for share in (0.1, 0.95):
        report = check_drift(ARTEFACT, live(200, share))
        assert report.passed, report.message


def test_a_planted_shift_that_breaks_the_bound_is_reported() -> None:
    shifted = [
        row | {"value_focus": 1.0, "sparse_per_term": 1.0, "best_cosine": 0.95}
        for row in live(200, 0.0)
    ]
    report = check_drift(ARTEFACT, shifted)
    assert not report.passed
    assert "calibrate again" in report.message
    assert {one.name for one in report.signals if one.has_drifted}


def test_one_signal_apart_from_the_others_is_reported_by_name() -> None:
    report = check_drift(ARTEFACT, [row | {"best_cosine": 0.05} for row in live(200, 0.5)])
    assert "best_cosine" in {one.name for one in report.signals if one.has_drifted}
    assert "best_cosine" in report.message


def test_a_handful_of_questions_says_nothing() -> None:
    report = check_drift(ARTEFACT, live(LEAST_LIVE - 1, 0.5))
    assert report.passed
    assert report.signals == ()
    assert "too few" in report.message
