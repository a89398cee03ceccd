"""The whole engine over real embedded builds, with a model whose vectors the test chooses."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from prometheus_client import CollectorRegistry

from retrieval.errors import (
    BadRequestError,
    BuildGoneError,
    BuildMismatchError,
    IndexUnavailableError,
    UnknownChunkError,
)
from retrieval.metrics import RetrievalMetrics
from retrieval.profiles import SearchProfile
from retrieval.search import SearchRequest
from retrieval.store import Filter
from retrieval.tokens import Tokenizer
from tests.retrieval.corpus import chunk, chunk_id, place, vector
from tests.retrieval.fakes import at_cosine
from tests.retrieval.rig import AXIS, QUERY, Rig, ask, gateway_corpus, point_at, point_with


@pytest.fixture
async def rig(tmp_path: Path, tokenizer: Tokenizer) -> AsyncIterator[Rig]:
    made = Rig(tmp_path, tokenizer)
    yield made
    await made.engine.close()


async def test_hits_carry_the_raw_numbers_of_every_list(rig: Rig) -> None:
    await rig.publish(gateway_corpus())
    outcome = await rig.engine.search(ask())
    by_id = {hit.chunk.chunk_id: hit for hit in outcome.hits}
    assert outcome.hits[0].chunk.chunk_id == chunk_id("exact")
    assert by_id[chunk_id("exact")].cosine == pytest.approx(0.62, abs=1e-5)
    assert by_id[chunk_id("exact")].sparse_rank is not None
    assert by_id[chunk_id("dense")].sparse_bm25 == 0.0
    assert by_id[chunk_id("dense")].sparse_rank is None
    assert "gateway" in by_id[chunk_id("exact")].matched_terms
    assert [hit.fused_rank for hit in outcome.hits] == sorted(h.fused_rank for h in outcome.hits)


async def test_what_one_list_brings_is_measured_by_the_other(
    tmp_path: Path, tokenizer: Tokenizer
) -> None:
    rig = Rig(tmp_path, tokenizer, profiles={"default": SearchProfile(candidates=1)})
    await rig.publish(gateway_corpus())
    outcome = await rig.engine.search(ask())
    vectors = {point.chunk.chunk_id: point.dense for point in gateway_corpus()}
    by_list = {hit.dense_rank is None: hit for hit in outcome.hits}
    assert by_list[False].chunk.chunk_id == chunk_id("dense")
    brought_by_words = by_list[True]
    exact = float(np.dot(vectors[brought_by_words.chunk.chunk_id], AXIS))
    assert brought_by_words.cosine == pytest.approx(exact, abs=1e-5)
    assert len(outcome.hits) == 2
    await rig.engine.close()


_PARTS = SearchProfile(dense_weight=0.2, part_weight=0.6, sparse_weight=0.2)


async def test_a_passage_is_found_by_one_part_and_judged_by_the_whole(
    tmp_path: Path, tokenizer: Tokenizer
) -> None:
    rig = Rig(
        tmp_path, tokenizer, profiles={"default": _PARTS.model_copy(update={"candidates": 3})}
    )
    corpus = gateway_corpus()
    hidden = point_at(chunk("hidden", "Waiting, among much else."), 0.04, 40)
    rows = np.stack([vector(7), at_cosine(AXIS, 0.93, 41)])
    await rig.publish([*corpus, replace(hidden, parts=rows)])
    outcome = await rig.engine.search(ask())
    by_id = {hit.chunk.chunk_id: hit for hit in outcome.hits}
    found = by_id[chunk_id("hidden")]
    assert (found.dense_rank, found.sparse_rank) == (None, None)
    assert found.part_cosine == pytest.approx(0.93, abs=1e-5)
    assert found.cosine == pytest.approx(0.04, abs=1e-5)
    assert by_id[chunk_id("dense")].part_cosine == pytest.approx(0.71, abs=1e-5)
    assert outcome.signals.best_cosine == pytest.approx(0.71, abs=1e-5)
    assert outcome.trace.parts == (chunk_id("hidden"),)
    assert outcome.trace.part_cosines == {
        hit.chunk.chunk_id: hit.part_cosine for hit in outcome.hits
    }
    assert outcome.degraded == ()
    await rig.engine.close()


async def test_a_build_without_parts_is_searched_and_says_so(
    tmp_path: Path, tokenizer: Tokenizer
) -> None:
    registry = CollectorRegistry()
    metrics = RetrievalMetrics(registry)
    rig = Rig(tmp_path, tokenizer, profiles={"default": _PARTS}, metrics=metrics)
    await rig.publish(gateway_corpus())
    outcome = await rig.engine.search(ask())
    assert outcome.degraded == ("parts_missing",)
    assert all(hit.part_cosine is None for hit in outcome.hits)
    assert (outcome.trace.parts, outcome.trace.part_cosines) == ((), {})
    assert outcome.hits[0].chunk.chunk_id == chunk_id("exact")
    stage = {"stage": "parts_missing"}
    assert registry.get_sample_value("vouch_retrieval_degraded_total", stage) == 1.0
    await rig.engine.close()


async def test_best_cosine_is_over_all_candidates_and_its_chunk_is_returned(rig: Rig) -> None:
    await rig.publish(gateway_corpus())
    for top_k in (1, 2, 4):
        outcome = await rig.engine.search(ask(top_k))
        assert outcome.signals.best_cosine == pytest.approx(0.71, abs=1e-5)
        assert chunk_id("dense") in [hit.chunk.chunk_id for hit in outcome.hits]
        assert len(outcome.hits) == top_k


async def test_fusion_and_floors_never_change_what_the_guard_reads(
    tmp_path: Path, tokenizer: Tokenizer
) -> None:
    profiles = {
        "default": SearchProfile(),
        "rrf": SearchProfile(fusion="rrf", dense_weight=0.7, sparse_weight=0.3),
        "floors": SearchProfile(dense_floor_cosine=0.99, sparse_floor=100.0),
        "off": SearchProfile(near_duplicate_cosine=2.0),
    }
    rig = Rig(tmp_path, tokenizer, profiles=profiles)
    await rig.publish(gateway_corpus())
    outcomes = [await rig.engine.search(ask(profile=name)) for name in profiles]
    best = {outcome.signals.best_cosine for outcome in outcomes}
    assert len(best) == len({outcome.signals.sparse_per_term for outcome in outcomes}) == 1
    assert [hit.chunk.chunk_id for hit in outcomes[2].hits] == [chunk_id("dense")]
    await rig.engine.close()


@pytest.mark.parametrize(
    "where", [Filter(source="guide"), Filter(fields=(("section_heading", "Intro"),))]
)
async def test_a_filter_never_switches_the_numbers_off(rig: Rig, where: Filter) -> None:
    await rig.publish(gateway_corpus())
    free, bound = await rig.engine.search(ask()), await rig.engine.search(ask(where=where))
    assert bound.signals == free.signals
    assert [h.cosine for h in bound.hits] == [h.cosine for h in free.hits]


async def test_a_near_duplicate_is_left_out_with_what_it_repeats(rig: Rig) -> None:
    await rig.publish(gateway_corpus())
    outcome = await rig.engine.search(ask())
    left_out = {f.chunk_id: f for f in outcome.filtered}
    assert left_out[chunk_id("copy")].duplicate_of == chunk_id("exact")
    assert (left_out[chunk_id("copy")].duplicate_cosine or 0.0) >= 0.9


async def test_the_same_query_gives_the_same_hits_in_the_same_order(
    tmp_path: Path, tokenizer: Tokenizer
) -> None:
    orders: set[tuple[str, ...]] = set()
    for seed in range(3):
        rig = Rig(tmp_path / str(seed), tokenizer)
        shuffled = [
            *gateway_corpus(),
            *(point_with(chunk(f"tie{n}", "Same."), AXIS) for n in range(5)),
        ]
        random.Random(seed).shuffle(shuffled)  # noqa: S311 - a fixed order, not a secret
        await rig.publish(shuffled)
        for _ in range(2):
            found = await rig.engine.search(ask(10))
            orders.add(tuple(hit.chunk.chunk_id for hit in found.hits))
        await rig.engine.close()
    assert len(orders) == 1


async def test_an_exact_name_is_found_though_its_vector_is_far(rig: Rig) -> None:
    far = point_with(chunk("code", "The server answers with ERR_7731 then."), -AXIS)
    await rig.publish([*gateway_corpus(), far])
    rig.embedder.queries.clear()
    outcome = await rig.engine.search(SearchRequest(query="ERR_7731", top_k=2))
    assert chunk_id("code") in [hit.chunk.chunk_id for hit in outcome.hits]


async def test_words_the_index_never_saw_are_named(rig: Rig) -> None:
    await rig.publish(gateway_corpus())
    outcome = await rig.engine.search(
        SearchRequest(query="gateway timeout for Kubernetes", top_k=4)
    )
    assert outcome.signals.missing_terms == ("Kubernetes",)
    assert outcome.signals.unknown_terms == pytest.approx(1 / 3)


async def test_hidden_chunks_neither_appear_nor_show_in_signals(rig: Rig) -> None:
    hidden = chunk("hidden", "The zyzzyva gateway timeout.", place(labels=("staff",)))
    await rig.publish([*gateway_corpus(), point_at(hidden, 0.99, 40)])
    request = SearchRequest(query="zyzzyva", top_k=4)
    public = await rig.engine.search(request)
    staff = await rig.engine.search(replace(request, where=Filter(labels=("staff",))))
    assert chunk_id("hidden") not in [hit.chunk.chunk_id for hit in public.hits]
    assert public.signals.unknown_terms == 1.0
    assert staff.hits[0].chunk.chunk_id == chunk_id("hidden")
    assert staff.signals.unknown_terms == 0.0
    with pytest.raises(UnknownChunkError):
        await rig.engine.source(chunk_id("hidden"), where=Filter())
    with pytest.raises(UnknownChunkError):
        await rig.engine.related(chunk_id("hidden"), top_k=2, where=Filter())
    assert await rig.engine.measure("zyzzyva", [chunk_id("hidden")], where=Filter()) == {}


async def test_nothing_visible_is_an_outcome_without_hits(rig: Rig) -> None:
    await rig.publish(gateway_corpus())
    outcome = await rig.engine.search(ask(where=Filter(source="nowhere")))
    assert outcome.hits == ()
    assert outcome.signals.best_cosine is None


async def test_a_source_view_has_only_neighbours_that_may_be_seen(rig: Rig) -> None:
    middle = replace(
        place(position=1),
        previous_chunk_id=chunk_id("before"),
        next_chunk_id=chunk_id("after"),
    )
    await rig.publish(
        [
            point_at(chunk("before", "Before.", place(labels=("staff",))), 0.1, 2),
            point_at(chunk("middle", "Middle.", middle), 0.1, 3),
            point_at(chunk("after", "After.", place(position=2)), 0.1, 4),
        ]
    )
    seen = await rig.engine.source(chunk_id("middle"), where=Filter())
    assert seen.chunk.text == "Middle."
    assert seen.occurrence.previous_chunk_id is None
    assert seen.occurrence.next_chunk_id == chunk_id("after")


async def test_sections_are_paged_in_document_order(rig: Rig) -> None:
    made = [
        point_at(
            chunk(f"s{n}", f"Text {n}.", place(heading=f"Part {n // 2:03}", position=n)), 0.1, n
        )
        for n in range(230)
    ]
    await rig.publish(made)
    first = await rig.engine.sections("", cursor="", where=Filter())
    second = await rig.engine.sections("guide", cursor=first.next_cursor, where=Filter())
    headings = [s.section_heading for s in (*first.sections, *second.sections)]
    assert headings == [f"Part {n:03}" for n in range(115)]
    assert first.sections[0].chunks == 2
    assert first.sections[3].first_chunk_id == chunk_id("s6")
    assert (first.sources, second.next_cursor) == ({"guide": 230}, "")
    assert (await rig.engine.sections("nowhere", cursor="", where=Filter())).sections == ()
    for cursor in ("x", "20200101T000000-000000:100", f"{first.manifest.build}:-1"):
        with pytest.raises(BadRequestError):
            await rig.engine.sections("", cursor=cursor, where=Filter())


async def test_a_bound_source_wins_over_an_asked_one(rig: Rig) -> None:
    await rig.publish(gateway_corpus())
    bound = Filter(source="guide")
    assert (await rig.engine.sections("other", cursor="", where=bound)).sections == ()


async def test_related_chunks_are_measured_against_the_chunk_itself(rig: Rig) -> None:
    await rig.publish(gateway_corpus())
    outcome = await rig.engine.related(chunk_id("exact"), top_k=3, where=Filter())
    found = [hit.chunk.chunk_id for hit in outcome.hits]
    assert found[0] == chunk_id("copy")
    assert chunk_id("exact") not in found
    vectors = {point.chunk.chunk_id: point.dense for point in gateway_corpus()}
    for hit in outcome.hits:
        exact = float(np.dot(vectors[chunk_id("exact")], vectors[hit.chunk.chunk_id]))
        assert hit.cosine == pytest.approx(exact, abs=1e-5)


async def test_measuring_gives_the_cosines_of_a_search(rig: Rig) -> None:
    await rig.publish(gateway_corpus())
    outcome = await rig.engine.search(ask())
    ids = [hit.chunk.chunk_id for hit in outcome.hits]
    measured = await rig.engine.measure(QUERY, ids, where=Filter())
    assert measured == pytest.approx({h.chunk.chunk_id: h.cosine for h in outcome.hits}, abs=1e-6)


@pytest.mark.parametrize(
    "request_",
    [ask(0), ask(51), ask(profile="absent"), SearchRequest(query=" \n", top_k=4)],
)
async def test_requests_that_mean_nothing_are_refused(rig: Rig, request_: SearchRequest) -> None:
    await rig.publish(gateway_corpus())
    with pytest.raises(BadRequestError):
        await rig.engine.search(request_)


async def test_without_a_build_the_engine_says_so_and_heals(rig: Rig) -> None:
    with pytest.raises(IndexUnavailableError, match="vouch ingest"):
        await rig.engine.search(ask())
    with pytest.raises(IndexUnavailableError):
        rig.engine.info()
    manifest = await rig.publish(gateway_corpus())
    assert (await rig.engine.search(ask())).manifest == manifest
    assert rig.engine.info() == manifest


async def test_a_new_build_is_followed_and_pinned_asks_finish_on_the_old(rig: Rig) -> None:
    old = await rig.publish(gateway_corpus())
    before = await rig.engine.search(ask())
    new = await rig.publish([point_at(chunk("new", "Another gateway timeout."), 0.5, 9)])
    assert (await rig.engine.search(ask())).manifest == new
    pinned = await rig.engine.search(ask(build=old.build))
    assert pinned == before
    assert (await rig.engine.search(ask(build=new.build))).manifest == new


async def test_a_pinned_build_goes_when_its_time_is_over(
    tmp_path: Path, tokenizer: Tokenizer
) -> None:
    rig = Rig(tmp_path, tokenizer, keep_seconds=0.0)
    old = await rig.publish(gateway_corpus())
    await rig.engine.search(ask())
    await rig.publish([point_at(chunk("new", "Another gateway timeout."), 0.5, 9)])
    await rig.engine.search(ask())
    await asyncio.sleep(0.01)  # the timer's turn of the loop, not a wait for it
    with pytest.raises(BuildGoneError):
        await rig.engine.search(ask(build=old.build))
    assert await rig.catalog.gc(keep=1) == (old.build,)
    await rig.engine.close()


async def test_rolling_back_returns_to_a_build_that_is_still_open(rig: Rig) -> None:
    old = await rig.publish(gateway_corpus())
    await rig.engine.search(ask())
    await rig.publish([point_at(chunk("new", "Another gateway timeout."), 0.5, 9)])
    await rig.engine.search(ask())
    await rig.catalog.rollback()
    await rig.engine.refresh()
    assert rig.engine.info() == old


async def test_a_build_of_another_model_is_refused_though_its_dimension_matches(rig: Rig) -> None:
    old = await rig.publish(gateway_corpus())
    await rig.engine.search(ask())
    await rig.publish(gateway_corpus(), model="other")
    for _ in range(2):
        with pytest.raises(BuildMismatchError, match="'other' in the build"):
            await rig.engine.search(ask())
    assert (await rig.engine.search(ask(build=old.build))).manifest == old


async def test_a_closed_engine_refuses(rig: Rig) -> None:
    await rig.publish(gateway_corpus())
    await rig.engine.search(ask())
    await rig.engine.close()
    with pytest.raises(IndexUnavailableError, match="closed"):
        await rig.engine.search(ask())


async def test_concurrent_searches_share_one_embedding(rig: Rig) -> None:
    await rig.publish(gateway_corpus())
    outcomes = await asyncio.gather(*(rig.engine.search(ask()) for _ in range(8)))
    assert rig.embedder.queries == {QUERY: 1}
    assert all(outcome == outcomes[0] for outcome in outcomes)


@pytest.mark.parametrize(
    "strange", ["0" * 36, "x", "../../etc", "{}", "a" * 64, "1", "\u0660" * 36]
)
async def test_what_cannot_be_the_id_of_a_chunk_is_unknown_and_no_failure_of_the_index(
    rig: Rig, strange: str
) -> None:
    await rig.publish(gateway_corpus())
    for where in (Filter(), Filter(source="gateway")):
        with pytest.raises(UnknownChunkError):
            await rig.engine.source(strange, where=where)
        with pytest.raises(UnknownChunkError):
            await rig.engine.related(strange, top_k=2, where=where)
        assert await rig.engine.measure("limit", [strange], where=where) == {}
        assert await rig.engine.read([strange], where=where) == {}
    explained = await rig.engine.explain(ask(), strange)
    assert explained.kind == "stale"
