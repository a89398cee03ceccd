"""Each kind of failure is planted and must be named as what it is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from retrieval.explain import Explanation
from retrieval.profiles import SearchProfile
from retrieval.store import Filter
from retrieval.tokens import Tokenizer
from tests.retrieval.corpus import chunk, chunk_id, place
from tests.retrieval.rig import Rig, ask, gateway_corpus, point_at

_PROFILES = {
    "default": SearchProfile(),
    "narrow": SearchProfile(candidates=2),
    "floors": SearchProfile(dense_floor_cosine=0.3, sparse_floor=0.5),
    "capped": SearchProfile(source_cap=1),
}


@pytest.fixture
async def rig(tmp_path: Path, tokenizer: Tokenizer) -> AsyncIterator[Rig]:
    made = Rig(tmp_path, tokenizer, profiles=_PROFILES)
    hidden = chunk("hidden", "The gateway timeout of the staff.", place(labels=("staff",)))
    await made.publish([*gateway_corpus(), point_at(hidden, 0.5, 90)])
    yield made
    await made.engine.close()


async def _explained(rig: Rig, name: str, profile: str = "", top_k: int = 3) -> Explanation:
    return await rig.engine.explain(ask(top_k, profile=profile), chunk_id(name))


async def test_a_hit_is_explained_with_its_place(rig: Rig) -> None:
    found = await _explained(rig, "exact")
    assert (found.kind, found.fused_rank) == ("returned", 1)
    assert found.cosine == pytest.approx(0.62, abs=1e-5)


async def test_a_chunk_that_no_list_brought(rig: Rig) -> None:
    found = await _explained(rig, "far3", "narrow")
    assert (found.kind, found.dense_rank, found.fused_rank) == ("not_retrieved", None, None)
    assert found.cosine == pytest.approx(0.05, abs=1e-5)
    assert "0.050" in found.detail


async def test_a_chunk_below_the_floors(rig: Rig) -> None:
    found = await _explained(rig, "far3", "floors")
    assert found.kind == "not_retrieved"
    assert "floors" in found.detail
    assert found.dense_rank is not None


async def test_a_chunk_below_the_cut_off(rig: Rig) -> None:
    found = await _explained(rig, "far3")
    assert found.kind == "below_cut_off"
    assert f"place {found.fused_rank}" in found.detail


async def test_a_near_duplicate_names_what_it_repeats(rig: Rig) -> None:
    found = await _explained(rig, "copy")
    assert found.kind == "near_duplicate"
    assert chunk_id("exact") in found.detail


async def test_a_chunk_over_the_cap_of_its_source(rig: Rig) -> None:
    kinds = {(await _explained(rig, name, "capped")).kind for name in ("exact", "sparse", "dense")}
    assert "source_cap" in kinds


@pytest.mark.parametrize("name", ["hidden", "never-written"])
async def test_a_chunk_the_build_does_not_show_is_stale(rig: Rig, name: str) -> None:
    found = await _explained(rig, name)
    assert (found.kind, found.cosine) == ("stale", None)


async def test_a_granted_label_makes_it_an_ordinary_chunk(rig: Rig) -> None:
    request = ask(3, where=Filter(labels=("staff",)))
    found = await rig.engine.explain(request, chunk_id("hidden"))
    assert found.kind in {"returned", "below_cut_off"}
