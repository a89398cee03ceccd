"""Evaluating a calibration and deciding whether it still holds."""

from __future__ import annotations

import pytest

from backend.verdict.calibration import DriftCheck, estimate, signal_number, state_of
from tests.backend.factories import INDEX, make_artefact, make_signals

STAMP = make_artefact().stamp


def test_the_build_it_was_made_on_is_fresh() -> None:
    assert state_of(STAMP, INDEX, 0.1) == "fresh"


@pytest.mark.parametrize(
    "change",
    [
        {"embedding_model": "other"},
        {"dimension": 768},
        {"header_format": "h2"},
        {"chunker": "c2"},
        {"profile": "rerank"},
    ],
)
def test_another_model_header_chunker_or_profile_voids_it(change: dict[str, object]) -> None:
    assert state_of(STAMP, INDEX.model_copy(update=change), 0.1) == "void"


def test_another_digest_of_the_same_model_voids_it() -> None:
    stamp = STAMP.model_copy(update={"model_digest": "one"})
    assert state_of(stamp, INDEX.model_copy(update={"model_digest": "two"}), 0.1) == "void"
    assert state_of(stamp, INDEX, 0.1) == "fresh"


def test_another_build_is_drifted_and_the_same_content_is_not() -> None:
    other = INDEX.model_copy(update={"build": "b2", "chunks": 105})
    assert state_of(STAMP, other, 0.1) == "drifted"
    stamp = STAMP.model_copy(update={"content_digest": "d"})
    assert state_of(stamp, other.model_copy(update={"content_digest": "d"}), 0.1) == "fresh"


def test_a_corpus_that_changed_beyond_the_limit_voids_it() -> None:
    assert state_of(STAMP, INDEX.model_copy(update={"build": "b2", "chunks": 120}), 0.1) == "void"


def test_a_drift_check_decides_for_the_build_it_was_made_on() -> None:
    other = INDEX.model_copy(update={"build": "b2"})

    def state(changed_share: float, *, passed: bool = True, build: str = "b2") -> str:
        check = DriftCheck(build=build, changed_share=changed_share, passed=passed)
        return state_of(STAMP, other, 0.1, check)

    assert state(0.0) == "fresh"
    assert state(0.1) == "drifted"
    assert state(0.11) == "void"
    assert state(0.0, passed=False) == "void"
    assert state(0.5, build="b3") == "drifted"


def test_signals_are_clipped_to_what_was_seen_in_fitting() -> None:
    artefact = make_artefact()
    narrow = artefact.weights[0].model_copy(update={"highest": 0.6})
    clipped = artefact.model_copy(update={"weights": (narrow,)})
    assert estimate(clipped, make_signals(0.9)).probability == pytest.approx(
        estimate(clipped, make_signals(0.6)).probability
    )


def test_a_signal_the_index_does_not_give_is_replaced() -> None:
    artefact = make_artefact()
    weight = artefact.weights[0].model_copy(update={"name": "unheard_of", "missing": 0.7})
    found = estimate(artefact.model_copy(update={"weights": (weight,)}), make_signals(0.1))
    assert found.contributions[0].number == 0.7


def test_further_signals_are_found_by_name() -> None:
    signals = make_signals(more={"number_coverage": 0.25})
    assert signal_number(signals, "number_coverage") == 0.25
    assert signal_number(signals, "best_cosine") == 0.8
    assert signal_number(signals, "missing_terms") is None
    assert signal_number(signals, "more") is None


def test_an_extreme_sum_is_a_probability() -> None:
    steep = make_artefact(coefficient=1e6)
    assert estimate(steep, make_signals(1.0)).probability == 1.0
    assert estimate(steep, make_signals(-1.0)).probability == 0.0


def test_equal_artefacts_have_equal_ids() -> None:
    assert make_artefact().digest() == make_artefact().digest()
    assert make_artefact().digest() != make_artefact(threshold=0.6).digest()
