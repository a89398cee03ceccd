"""Sections from chunks, and the four kinds of failure."""

from __future__ import annotations

from evals.ranking import counted, failures, ranked, sections_in_order
from evals.sets import Question
from retrieval.chunk import Chunk, Occurrence
from retrieval.manifest import Manifest, Stamp
from retrieval.search import Hit, SearchOutcome, SearchSignals, Trace

SECTIONS = {"c1": ("a",), "c2": ("a", "b"), "c3": ("c",), "c4": ("d",), "c5": ("e",)}


def hit(chunk_id: str) -> Hit:
    place = Occurrence("s", "d", "", "", "", "", 0)
    chunk = Chunk(chunk_id, "text", "text", (place,))
    return Hit(chunk, place, 0.5, 1, None, None, None, None, 1)


def outcome(fused: tuple[str, ...], hits: tuple[str, ...]) -> SearchOutcome:
    stamp = Stamp(
        embedding_model="m",
        model_digest="d",
        dimension=3,
        header_format="h",
        chunker="c",
        sparse_model="s",
    )
    manifest = Manifest(
        build="b",
        created_at="",
        profile="default",
        stamp=stamp,
        chunks=5,
        documents=5,
        duplicates=0,
        sources={},
        content_digest="",
    )
    return SearchOutcome(
        query="q",
        hits=tuple(hit(one) for one in hits),
        signals=SearchSignals(0.5, 0.1, 0.5, 0.5, 0.0, len(fused)),
        manifest=manifest,
        filtered=(),
        trace=Trace(fused, (), fused, (), hits),
    )


def question(*relevant: str) -> Question:
    return Question(id="q", question="q?", relevant_ids=relevant)


def test_several_chunks_of_a_section_count_once_at_the_best_place() -> None:
    assert sections_in_order(["c1", "c2", "c3", "unknown"], SECTIONS) == ("a", "b", "c")


def test_ranking_is_over_the_fused_order() -> None:
    found = ranked(question("c"), outcome(("c3", "c1"), ("c1",)), SECTIONS)
    assert found.ranking == ("c", "a")
    assert found.relevant == {"c"}


def test_each_planted_failure_has_its_own_kind() -> None:
    searched = outcome(("c1", "c3", "c4"), ("c1", "c4"))
    found = failures(question("a", "c", "d", "e", "gone"), searched, SECTIONS, k=2)
    assert {(one.section_id, one.kind, one.place) for one in found} == {
        ("c", "retrieved_not_used", 2),
        ("d", "below_cutoff", 3),
        ("e", "never_retrieved", None),
        ("gone", "stale", None),
    }
    assert set(counted(found).values()) == {1}


def test_what_is_shown_is_no_failure() -> None:
    assert failures(question("a"), outcome(("c1",), ("c1",)), SECTIONS, k=3) == []
