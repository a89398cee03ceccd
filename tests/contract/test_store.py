"""One suite for every store: the same points, the same questions, the same answers."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from retrieval.chunk import Point, SparseVector
from retrieval.errors import BadRequestError, IndexUnavailableError, VectorError
from retrieval.store import Filter, Range, Store
from tests.contract.conftest import ADAPTERS, Maker
from tests.retrieval.corpus import SPARSE, chunk, chunk_id, place, point, points, vector

pytestmark = pytest.mark.parametrize("adapter", ADAPTERS)

_CHUNKS = (
    chunk(
        "install",
        "Install the package with pip before anything else.",
        place("guide", heading="Install", position=0),
        updated_at="2026-01-10T00:00:00Z",
        metadata={"version": 1, "draft": False, "kind": "howto"},
    ),
    chunk(
        "timeout",
        "A timeout_error means that the server took too long.",
        place("guide", heading="Errors", position=1),
        updated_at="2026-03-01T12:30:00Z",
        metadata={"version": 2, "draft": True, "ratio": 0.5},
    ),
    chunk(
        "pricing",
        "The price of a call depends on the tokens used.",
        place("sales", heading="Price", labels=("staff",)),
        language="de",
        metadata={"version": 3},
    ),
    chunk(
        "shared",
        "Support answers within one working day.",
        place("guide", heading="Support", labels=("staff",), position=2),
        place("sales", heading="Contact"),
        metadata={"version": 4, "kind": "contact"},
    ),
    chunk(
        "secret",
        "The launch is planned for the spring.",
        place("sales", heading="Plans", labels=("staff", "board")),
    ),
)
_ALL = Filter(all_labels=True)


def _ids(*names: str) -> set[str]:
    return {chunk_id(name) for name in names}


async def _filled(make_store: Maker, adapter: str) -> Store:
    store = await make_store(adapter)
    await store.write(points(_CHUNKS))
    return store


async def _visible(store: Store, where: Filter) -> set[str]:
    """Ask every method and insist that they agree."""
    scanned = [stored.chunk.chunk_id async for stored in store.scan(where=where)]
    read = await store.read([made.chunk_id for made in _CHUNKS], where=where)
    lists = await store.candidates(vector(0), SPARSE.embed_query("the"), limit=10, where=where)
    measured = await store.measure(
        vector(0), SparseVector((), ()), [made.chunk_id for made in _CHUNKS], where=where
    )
    assert scanned == sorted(scanned)
    assert len(scanned) == await store.count(where=where)
    assert set(scanned) == set(read) == {c.chunk_id for c in lists.dense} == set(measured.dense)
    return set(scanned)


async def test_a_written_point_is_read_back_whole(make_store: Maker, adapter: str) -> None:
    store = await _filled(make_store, adapter)
    written = points(_CHUNKS)
    read = await store.read([p.chunk.chunk_id for p in written], where=_ALL, with_vectors=True)
    for expected in written:
        found = read[expected.chunk.chunk_id]
        assert found.chunk == expected.chunk
        assert found.dense is not None
        np.testing.assert_allclose(found.dense, expected.dense, atol=1e-6)
        assert found.sparse is not None
        assert dict(zip(found.sparse.indices, found.sparse.values, strict=True)) == pytest.approx(
            dict(zip(expected.sparse.indices, expected.sparse.values, strict=True))
        )


async def test_dense_numbers_are_exact_cosines_in_order(make_store: Maker, adapter: str) -> None:
    store = await _filled(make_store, adapter)
    query = vector(77)
    lists = await store.candidates(query, SparseVector((), ()), limit=10, where=_ALL)
    exact = {p.chunk.chunk_id: float(np.dot(query, p.dense)) for p in points(_CHUNKS)}
    assert {c.chunk_id: c.number for c in lists.dense} == pytest.approx(exact, abs=1e-4)
    assert [c.chunk_id for c in lists.dense] == sorted(exact, key=lambda c: (-exact[c], c))
    assert lists.sparse == ()


async def test_sparse_numbers_are_the_dot_products_of_stored_weights(
    make_store: Maker, adapter: str
) -> None:
    store = await _filled(make_store, adapter)
    terms = SPARSE.embed_query("timeout_error of the server")
    weights = {term: 1.5 + 0.25 * place for place, term in enumerate(terms.indices)}
    query = SparseVector(terms.indices, tuple(weights[term] for term in terms.indices))
    lists = await store.candidates(vector(1), query, limit=10, where=_ALL)
    exact = {
        p.chunk.chunk_id: math.fsum(
            weights.get(term, 0.0) * value
            for term, value in zip(p.sparse.indices, p.sparse.values, strict=True)
        )
        for p in points(_CHUNKS)
    }
    found = {c.chunk_id: c.number for c in lists.sparse}
    assert found == pytest.approx({c: n for c, n in exact.items() if n > 0}, abs=1e-4)


async def test_measuring_chosen_points_gives_the_numbers_of_the_lists(
    make_store: Maker, adapter: str
) -> None:
    store = await _filled(make_store, adapter)
    query = SPARSE.embed_query("price of tokens")
    lists = await store.candidates(vector(5), query, limit=10, where=_ALL)
    chosen = sorted(_ids("pricing", "install"))
    measured = await store.measure(vector(5), query, chosen, where=_ALL)
    assert measured.dense == pytest.approx(
        {c.chunk_id: c.number for c in lists.dense if c.chunk_id in chosen}, abs=1e-6
    )
    assert measured.sparse == pytest.approx(
        {c.chunk_id: c.number for c in lists.sparse if c.chunk_id in chosen}, abs=1e-6
    )


async def test_equal_numbers_are_ordered_by_chunk_id(make_store: Maker, adapter: str) -> None:
    store = await make_store(adapter)
    same = [point(chunk(f"same-{n}", f"Text {n}"), seed=3) for n in range(6)]
    await store.write(same)
    lists = await store.candidates(vector(3), SparseVector((), ()), limit=10, where=Filter())
    assert [c.chunk_id for c in lists.dense] == sorted(p.chunk.chunk_id for p in same)


@pytest.mark.parametrize(
    ("where", "names"),
    [
        (Filter(), {"install", "timeout", "shared"}),
        (Filter(labels=("staff",)), {"install", "timeout", "pricing", "shared"}),
        (Filter(labels=("board",)), {"install", "timeout", "shared"}),
        (
            Filter(labels=("board", "staff", "x")),
            {"install", "timeout", "pricing", "shared", "secret"},
        ),
        (Filter(source="guide"), {"install", "timeout"}),
        (Filter(source="guide", labels=("staff",)), {"install", "timeout", "shared"}),
        (Filter(source="sales"), {"shared"}),
        (Filter(source="sales", labels=("staff",)), {"pricing", "shared"}),
        (Filter(source="nowhere"), set[str]()),
        (Filter(all_labels=True), {"install", "timeout", "pricing", "shared", "secret"}),
    ],
)
async def test_only_chunks_with_a_granted_occurrence_are_found(
    make_store: Maker, adapter: str, where: Filter, names: set[str]
) -> None:
    store = await _filled(make_store, adapter)
    assert await _visible(store, where) == _ids(*names)


async def test_hidden_occurrences_are_not_read_back(make_store: Maker, adapter: str) -> None:
    store = await _filled(make_store, adapter)
    shared = chunk_id("shared")
    public = (await store.read([shared], where=Filter()))[shared].chunk
    staff = (await store.read([shared], where=Filter(source="guide", labels=("staff",))))[shared]
    assert [place.source for place in public.occurrences] == ["sales"]
    assert [place.source for place in staff.chunk.occurrences] == ["guide"]


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ((("section_heading", "Errors"),), {"timeout"}),
        ((("heading", ("Errors", "Install")),), {"install", "timeout"}),
        ((("source", ("guide", "sales")), ("heading", "Contact")), {"shared"}),
        ((("source", "guide"), ("heading", "Contact")), set[str]()),
        ((("language", "de"),), {"pricing"}),
        ((("metadata.kind", "contact"),), {"shared"}),
        ((("metadata.version", 2),), {"timeout"}),
        ((("metadata.version", (1, 4)),), {"install", "shared"}),
        ((("metadata.version", Range(at_least=2, at_most=3)),), {"timeout", "pricing"}),
        ((("metadata.draft", True),), {"timeout"}),
        ((("metadata.ratio", 0.5),), {"timeout"}),
        ((("metadata.kind", ("howto", 2)),), {"install"}),
        ((("metadata.version", None),), {"secret"}),
        ((("updated_at", Range(at_least="2026-02-01T00:00:00Z")),), {"timeout"}),
        ((("updated_at", Range(at_most="2026-02-01T00:00:00Z")),), {"install"}),
        ((("updated_at", "2026-01-10T00:00:00Z"),), {"install"}),
    ],
)
async def test_fields_filter_by_equality_any_of_and_range(
    make_store: Maker, adapter: str, fields: tuple[tuple[str, str], ...], names: set[str]
) -> None:
    store = await _filled(make_store, adapter)
    assert await _visible(store, Filter(fields=fields, all_labels=True)) == _ids(*names)


async def test_a_heading_filter_needs_a_visible_occurrence_with_that_heading(
    make_store: Maker, adapter: str
) -> None:
    store = await _filled(make_store, adapter)
    support = (("heading", "Support"),)
    assert await _visible(store, Filter(fields=support)) == set()
    assert await _visible(store, Filter(fields=support, labels=("staff",))) == _ids("shared")
    assert await _visible(store, Filter(source="sales", fields=support, labels=("staff",))) == set()


async def test_chosen_ids_bound_what_is_found(make_store: Maker, adapter: str) -> None:
    store = await _filled(make_store, adapter)
    where = Filter(chunk_ids=(chunk_id("install"), chunk_id("pricing")))
    assert await _visible(store, where) == _ids("install")
    assert await _visible(store, Filter(chunk_ids=())) == set()


async def test_the_limit_bounds_each_list(make_store: Maker, adapter: str) -> None:
    store = await _filled(make_store, adapter)
    lists = await store.candidates(
        vector(0), SPARSE.embed_query("server price support"), limit=2, where=_ALL
    )
    assert (len(lists.dense), len(lists.sparse)) == (2, 2)


@pytest.mark.parametrize("name", ["colour", "metadata.", "text", "labels"])
async def test_an_unknown_field_is_refused(make_store: Maker, adapter: str, name: str) -> None:
    store = await _filled(make_store, adapter)
    with pytest.raises(BadRequestError, match="unknown filter field"):
        await store.count(where=Filter(fields=((name, "x"),)))


def _broken(kind: str) -> Point:
    made = point(chunk("broken", "Some text."), seed=9)
    dense = made.dense.copy()
    match kind:
        case "nan":
            dense[3] = np.nan
        case "infinite":
            dense[3] = np.inf
        case "zero":
            dense[:] = 0.0
        case _:
            dense = dense[:-1]
    return replace(made, dense=dense)


@pytest.mark.parametrize("kind", ["nan", "infinite", "zero", "short"])
async def test_a_vector_unfit_for_search_is_refused_by_name(
    make_store: Maker, adapter: str, kind: str
) -> None:
    store = await make_store(adapter)
    with pytest.raises(VectorError, match=chunk_id("broken")):
        await store.write([_broken(kind)])
    assert await store.count(where=_ALL) == 0


async def test_late_interaction_sums_the_best_match_of_each_token(
    make_store: Maker, adapter: str
) -> None:
    store = await make_store(adapter)
    rows = {made.chunk_id: np.stack([vector(10 * n + k, 4) for k in range(n + 2)])
            for n, made in enumerate(_CHUNKS)}  # fmt: skip
    await store.write([replace(p, late=rows[p.chunk.chunk_id]) for p in points(_CHUNKS)])
    query = np.stack([vector(900 + k, 4) for k in range(3)])
    exact = {c: float((query @ held.T).max(axis=1).sum()) for c, held in rows.items()}
    ids = [made.chunk_id for made in _CHUNKS]
    assert await store.late_interaction(query, ids, where=_ALL) == pytest.approx(exact, abs=1e-4)
    public = await store.late_interaction(query, ids, where=Filter())
    assert set(public) == _ids("install", "timeout", "shared")
    assert await store.late_interaction(query, [], where=_ALL) == {}


async def test_a_passage_is_as_near_as_the_nearest_of_its_parts(
    make_store: Maker, adapter: str
) -> None:
    store = await make_store(adapter)
    rows = {
        made.chunk_id: np.stack([vector(50 * n + k) for k in range(n + 2)])
        for n, made in enumerate(_CHUNKS[1:])
    }
    await store.write([replace(p, parts=rows.get(p.chunk.chunk_id)) for p in points(_CHUNKS)])
    query = vector(901)
    exact = {c: float((held @ query).max()) for c, held in rows.items()}
    ids = [made.chunk_id for made in _CHUNKS]
    near = await store.part_cosines(query, ids, where=_ALL)
    assert near == pytest.approx(exact, abs=1e-4)
    assert set(await store.part_cosines(query, ids, where=Filter())) == _ids("timeout", "shared")
    assert await store.part_cosines(query, [], where=_ALL) == {}
    lists = await store.candidates(
        query, SPARSE.embed_query("server"), limit=2, where=_ALL, with_parts=True
    )
    best = sorted(exact, key=lambda c: -exact[c])[:2]
    assert [c.chunk_id for c in lists.parts] == best
    assert [c.number for c in lists.parts] == pytest.approx([exact[c] for c in best], abs=1e-4)
    assert (len(lists.dense), len(lists.sparse)) == (2, 1)


@pytest.mark.parametrize("kind", ["nan", "narrow", "none"])
async def test_parts_unfit_for_search_are_refused_by_name(
    make_store: Maker, adapter: str, kind: str
) -> None:
    store = await make_store(adapter)
    rows = np.stack([vector(1), vector(2)])
    rows = {"nan": rows * np.nan, "narrow": rows[:, :3], "none": rows[:0]}[kind]
    made = point(chunk("broken", "Some text."), seed=9)
    with pytest.raises(VectorError, match=chunk_id("broken")):
        await store.write([replace(made, parts=rows)])


async def test_a_closed_store_says_so(make_store: Maker, adapter: str) -> None:
    store = await _filled(make_store, adapter)
    await store.close()
    with pytest.raises(IndexUnavailableError, match="closed"):
        await store.count(where=_ALL)
    await store.close()


async def test_many_points_are_written_and_scanned_in_pages(
    make_store: Maker, adapter: str
) -> None:
    store = await make_store(adapter)
    many = [point(chunk(f"many-{n}", f"Sentence number {n}."), seed=n) for n in range(600)]
    await store.write(many)
    scanned = [stored.chunk.chunk_id async for stored in store.scan(where=Filter())]
    assert scanned == sorted(p.chunk.chunk_id for p in many)
