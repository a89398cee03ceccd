from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.fusion import Scored
from retrieval.signals import (
    WeighedTerm,
    compute_signals,
    cosine_margin,
    known_entities,
    number_coverage,
    rarest_missing,
    sparse_per_term,
    term_coverage,
    unknown_terms,
)
from retrieval.sparse import Term


def _word(term_id: int, surface: str, idf: float, *, is_known: bool = True) -> WeighedTerm:
    return WeighedTerm(Term(term_id, surface), idf, is_known)


def _found(chunk_id: str, cosine: float, bm25: float = 0.0) -> Scored:
    return Scored(chunk_id, cosine, bm25, 1, None)


_WORDS = (_word(1, "install", 1.0), _word(2, "Qdrant", 3.0), _word(3, "v2", 6.0, is_known=False))


def test_coverage_is_the_idf_share_of_the_best_single_passage() -> None:
    head = {"a": frozenset({1}), "b": frozenset({1, 2}), "c": frozenset({9})}
    assert term_coverage(_WORDS, head) == pytest.approx(0.4)


def test_the_rarest_missing_word_is_measured_against_the_rarest_asked_for() -> None:
    assert rarest_missing(_WORDS, {"a": frozenset({1, 3})}) == pytest.approx(0.5)
    assert rarest_missing(_WORDS, {"a": frozenset({1, 2, 3})}) == 0.0


def test_bm25_is_normalised_by_the_most_the_words_could_reach() -> None:
    assert sparse_per_term([_found("a", 0.1, 11.0)], _WORDS, 2.2) == pytest.approx(0.5)
    assert sparse_per_term([_found("a", 0.1, 11.0)], (), 2.2) == 0.0


def test_margin_is_between_the_first_and_the_fifth() -> None:
    found = [_found(str(n), cosine) for n, cosine in enumerate((0.2, 0.9, 0.5, 0.4, 0.3, 0.1))]
    assert cosine_margin(found) == pytest.approx(0.7)
    assert cosine_margin(found[:2]) == pytest.approx(0.7)
    assert cosine_margin([]) == 0.0


def test_unknown_words_and_names_and_numbers_are_shares() -> None:
    assert unknown_terms(_WORDS) == pytest.approx(1 / 3)
    assert known_entities(_WORDS) == pytest.approx(0.5)
    assert number_coverage(_WORDS, {"a": frozenset({3})}) == 1.0
    assert number_coverage(_WORDS, {"a": frozenset({1})}) == 0.0
    assert number_coverage(_WORDS[:1], {}) == 1.0


def test_missing_words_are_named_as_asked_rarest_first() -> None:
    signals = compute_signals(
        [_found("a", 0.5)],
        _WORDS,
        {"a": frozenset({1})},
        returned={"a": frozenset({1})},
        saturation=2.2,
    )
    assert signals.missing_terms == ("v2", "Qdrant")


def test_without_candidates_there_is_no_best_cosine() -> None:
    signals = compute_signals([], _WORDS, {}, returned={}, saturation=2.2)
    assert signals.best_cosine is None
    assert signals.hit_count == 0


@given(
    st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 60)), max_size=12),
    st.lists(st.tuples(st.integers(1, 6), st.floats(0.01, 9), st.booleans()), max_size=6),
    st.lists(st.frozensets(st.integers(1, 6)), max_size=4),
)
def test_every_signal_stays_in_its_range(
    numbers: list[tuple[float, float]],
    words: list[tuple[int, float, bool]],
    heads: list[frozenset[int]],
) -> None:
    candidates = [_found(str(n), cosine, bm25) for n, (cosine, bm25) in enumerate(numbers)]
    weighed = [_word(i, f"w{i}", idf, is_known=known) for i, idf, known in words]
    head = {str(n): terms for n, terms in enumerate(heads)}
    signals = compute_signals(candidates, weighed, head, returned=head, saturation=2.2)
    shares = (
        signals.sparse_per_term,
        signals.term_coverage,
        signals.unknown_terms,
        *(
            signals.more[name]
            for name in signals.more
            if name not in {"query_words", "mean_cosine"}
        ),
    )
    assert all(0.0 <= share <= 1.0 for share in shares)
    assert 0.0 <= signals.cosine_margin <= 2.0
