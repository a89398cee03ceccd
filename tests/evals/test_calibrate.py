"""Calibration: what it writes, what it certifies, and when it refuses."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from backend.verdict.calibration import estimate
from backend.verdict.calibration_artefact import CalibrationArtefact, Target
from evals.applying import apply, signals_of
from evals.calibrate import calibrate, part
from evals.errors import CalibrationRefusedError
from evals.logistic import fit
from retrieval.manifest import Manifest, Stamp
from tests.evals.fakes import observation, separated

NOW = datetime(2024, 1, 1, tzinfo=UTC)
MANIFEST = Manifest(
    build="20240101T000000-abcdef",
    created_at="2024-01-01T00:00:00+00:00",
    profile="default",
    stamp=Stamp(
        embedding_model="small",
        model_digest="sha256:1",
        dimension=3,
        header_format="path-1",
        chunker="structural-1(180/40)",
        sparse_model="bm25",
    ),
    chunks=7,
    documents=2,
    duplicates=0,
    sources={"a": 7},
    content_digest="c",
)
OVER_REFUSAL = Target(kind="over_refusal", limit=0.05)


def test_separated_classes_give_an_artefact_that_keeps_its_promise() -> None:
    made = calibrate(separated(), MANIFEST, name="set", target=OVER_REFUSAL, created_at=NOW)
    artefact = made.artefact
    assert artefact.operating.refusal_recall == 1.0
    assert artefact.operating.over_refusal <= 0.05
    assert artefact.bound is not None
    assert artefact.bound.leaked == 0
    assert artefact.bound.alpha == artefact.bound.smallest_alpha
    assert artefact.stamp.build == MANIFEST.build
    assert artefact.stamp.content_digest == "c"
    assert CalibrationArtefact.model_validate_json(artefact.model_dump_json()) == artefact


def test_fitting_and_certifying_share_no_question() -> None:
    fitting, certifying = part(separated())
    assert not {one.question_id for one in fitting} & {one.question_id for one in certifying}
    assert {one.band for one in fitting} == {one.band for one in certifying}
    made = calibrate(separated(), MANIFEST, name="set", target=OVER_REFUSAL)
    assert tuple(one.observation for one in made.certified) == certifying


def test_the_guard_computes_the_same_probability_as_the_fit() -> None:
    made = calibrate(separated(overlap=0.4), MANIFEST, name="set", target=OVER_REFUSAL)
    model = fit(part(separated(overlap=0.4))[0])
    for one in separated(overlap=0.4, seed=11):
        found = estimate(made.artefact, signals_of(one.signals)).probability
        assert found == pytest.approx(model.probability(one.signals), abs=1e-12)


def test_an_artefact_judges_questions_it_never_saw() -> None:
    made = calibrate(separated(), MANIFEST, name="set", target=OVER_REFUSAL)
    strong, weak = observation("new", "short", 0.85), observation("off", "unanswerable", 0.05)
    assert [one.is_refused for one in apply(made.artefact, [strong, weak])] == [False, True]


def test_a_leak_target_is_certified_with_enough_questions() -> None:
    made = calibrate(separated(80), MANIFEST, name="set", target=Target(kind="leak", limit=0.05))
    assert made.artefact.bound is not None
    assert made.artefact.bound.n == 79
    assert made.artefact.bound.alpha <= 0.05


def test_a_leak_target_beyond_the_number_of_questions_is_refused_with_the_best_bound() -> None:
    with pytest.raises(CalibrationRefusedError, match=r"14\.6% at best; 5\.0% needs 59"):
        calibrate(separated(20), MANIFEST, name="set", target=Target(kind="leak", limit=0.05))


def test_too_few_questions_are_refused() -> None:
    with pytest.raises(CalibrationRefusedError, match="too few"):
        calibrate(separated(4), MANIFEST, name="set", target=OVER_REFUSAL)


def test_overlapping_classes_are_refused_and_the_blocking_questions_named() -> None:
    with pytest.raises(CalibrationRefusedError, match="do not separate") as refusal:
        calibrate(separated(overlap=1.0), MANIFEST, name="set", target=OVER_REFUSAL)
    assert any(one.startswith("u") for one in refusal.value.blockers)
    assert any(one.startswith(("s", "l")) for one in refusal.value.blockers)
    assert all("nearest: a passage" in one for one in refusal.value.blockers)
    assert len(refusal.value.blockers) == 10


def test_a_threshold_that_refuses_most_answerable_questions_is_not_written_down() -> None:
    mixed = [
        observation(one.question_id, one.kind, 0.9, band=one.band)
        if one.kind == "unanswerable" and int(one.question_id[1:]) % 9 == 0
        else one
        for one in separated(80)
    ]
    with pytest.raises(CalibrationRefusedError, match=r"certified|would refuse") as refusal:
        calibrate(mixed, MANIFEST, name="set", target=Target(kind="leak", limit=0.04))
    assert refusal.value.blockers
