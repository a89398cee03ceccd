"""Curves of a verdict."""

from __future__ import annotations

import pytest

from evals.curves import (
    area_under_risk,
    auroc,
    expected_calibration_error,
    reliability,
    risk_coverage,
)


def test_separation_counts_pairs_and_halves_ties() -> None:
    assert auroc([0.9, 0.8], [0.1, 0.2]) == 1.0
    assert auroc([0.5], [0.5]) == 0.5
    assert auroc([0.9, 0.3], [0.5]) == 0.5


def test_separation_of_one_class_is_refused() -> None:
    with pytest.raises(ValueError, match="both classes"):
        auroc([0.5], [])


def test_risk_is_the_share_of_leaks_among_the_answered() -> None:
    points = risk_coverage([0.9, 0.4], [0.6])
    assert [(round(point.x, 3), point.y) for point in points] == [
        (0.333, 0.0),
        (0.667, 0.5),
        (1.0, pytest.approx(1 / 3)),
    ]
    assert area_under_risk(points) > area_under_risk(risk_coverage([0.9, 0.8], [0.6]))


def test_reliability_of_honest_probabilities_has_no_error() -> None:
    probabilities = [0.1] * 10 + [0.9] * 10
    truth = [True] + [False] * 9 + [True] * 9 + [False]
    points = reliability(probabilities, truth)
    assert [point.n for point in points] == [10, 10]
    assert expected_calibration_error(points) == pytest.approx(0.0)
    assert expected_calibration_error(reliability([0.9] * 4, [False] * 4)) == pytest.approx(0.9)
