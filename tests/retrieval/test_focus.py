"""Coverage of a question within a few neighbouring sentences."""

from __future__ import annotations

import zlib

import pytest

from retrieval.chunk import SparseVector
from retrieval.focus import Focus, focus


class Words:
    """Every lower-case word is a term."""

    def embed_document(self, text: str) -> SparseVector:
        terms = sorted({zlib.crc32(word.strip(".,?").encode()) for word in text.lower().split()})
        return SparseVector(tuple(terms), (1.0,) * len(terms))

    def embed_query(self, text: str) -> SparseVector:
        return self.embed_document(text)


ANALYSER = Words()


def measure(question: str, words: str, *passages: str) -> Focus:
    weights = dict.fromkeys(ANALYSER.embed_query(words).indices, 1.0)
    return focus(question, passages, weights, ANALYSER)


def test_words_apart_cover_less_than_words_together() -> None:
    question, words = "Is the upload limit configurable?", "upload limit configurable"
    apart = "The upload starts. One. Two. Three. Four. The limit holds. A. B. C. All configurable."
    together = "The upload starts. Its limit is configurable."
    assert measure(question, words, together).coverage == 1.0
    assert measure(question, words, apart).coverage == pytest.approx(1 / 3)


def test_the_best_passage_counts() -> None:
    found = measure("upload limit", "upload limit", "Nothing here.", "The upload limit holds.")
    assert found.coverage == 1.0


def test_rare_words_weigh_more() -> None:
    weights = dict(zip(ANALYSER.embed_query("quota").indices, [3.0], strict=True))
    weights |= dict.fromkeys(ANALYSER.embed_query("upload").indices, 1.0)
    assert focus("upload quota", ["the upload"], weights, ANALYSER).coverage == 0.25


def test_a_window_without_the_asked_value_does_not_count_as_value_coverage() -> None:
    question, words = "How many documents can I upload?", "documents upload"
    assert measure(question, words, "You upload documents here.") == Focus(1.0, 0.0)
    assert measure(question, words, "You upload documents, 20 at most.") == Focus(1.0, 1.0)


def test_a_value_far_from_the_words_does_not_count() -> None:
    question, words = "How many documents can I upload?", "documents upload"
    far = "You upload documents. A. B. C. D. E. The year has 365 days."
    assert measure(question, words, far).value_coverage == 0.0


def test_counts_of_things_asked_for_are_not_topics() -> None:
    found = measure("Which two limits apply?", "two limits", "The limits apply.")
    assert found.coverage == 1.0


def test_nothing_to_look_for_or_in_covers_nothing() -> None:
    assert measure("What is it?", "") == Focus(0.0, 0.0)
    assert measure("upload", "upload") == Focus(0.0, 0.0)
