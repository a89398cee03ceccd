"""Each thing an ask depends on, broken in each way: a typed outcome, and it heals by itself.

``docs/reliability.md`` has the same table in words.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults import grounds
from tests.faults.grounds import Ground, Opener
from tests.faults.proxy import Fate
from tests.storage.conftest import temporary_postgres

# Several processes are started, which takes long on a busy machine.
pytestmark = pytest.mark.timeout(400)

FATES: tuple[Fate, ...] = ("absent", "cut", "hang", "garbage")
MODEL_DOWN = {
    "absent": (502, {"model_unavailable"}),
    "cut": (502, {"model_unavailable", "model_garbage"}),
    "hang": (504, {"model_timeout"}),
    "garbage": (502, {"model_unavailable", "model_garbage"}),
}
EVIDENCE_DOWN = {
    "absent": (503, {"knowledge_unavailable"}),
    "cut": (503, {"knowledge_unavailable", "tool_contract"}),
    "hang": (503, {"knowledge_unavailable", "knowledge_timeout"}),
    "garbage": (503, {"knowledge_unavailable", "tool_contract"}),
}
RERANKED_NOT = {fate: (200, {"rerank_failed"}) for fate in FATES}
LIMITED_HERE: dict[Fate, tuple[int, set[str]]] = {fate: (200, set()) for fate in FATES}
RECORD_REFUSED = {
    fate: (503, {"record_unavailable", "knowledge_unavailable", "knowledge_timeout"})
    for fate in FATES
}
RECORD_SPOOLED = {fate: (200, {"record_spooled"}) for fate in FATES}
OUTCOMES = {
    "index": EVIDENCE_DOWN,
    "model": MODEL_DOWN,
    "gateway": MODEL_DOWN,
    "tool_server": EVIDENCE_DOWN,
    "embedding_service": EVIDENCE_DOWN,
    "reranker": RERANKED_NOT,
    "redis": LIMITED_HERE,
    "database_refuse": RECORD_REFUSED,
    "database_spool": RECORD_SPOOLED,
}


def opener_of(name: str, request: pytest.FixtureRequest) -> Opener:
    if name.startswith("database_"):
        url = request.getfixturevalue("shared_postgres_url")
        return grounds.database(url, "spool" if name.endswith("spool") else "refuse")
    return {
        "index": grounds.index,
        "model": grounds.model,
        "gateway": grounds.gateway,
        "tool_server": grounds.tool_server,
        "embedding_service": grounds.embedding_service,
        "reranker": grounds.reranker,
        "redis": grounds.redis,
    }[name]


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=pytest.mark.postgres) if name.startswith("database") else name
        for name in OUTCOMES
    ],
)
def component(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def shared_postgres_url() -> Iterator[str]:
    with temporary_postgres() as url:
        yield url


@pytest.fixture(scope="module")
def ground(
    component: str,
    prepared: Path,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> Iterator[Ground]:
    folder = grounds.copied(prepared, tmp_path_factory.mktemp(component) / "installation")
    with opener_of(component, request)(folder) as opened:
        yield opened


@pytest.mark.parametrize("fate", FATES)
def test_a_broken_line_has_its_typed_outcome_and_heals(
    ground: Ground, component: str, fate: Fate
) -> None:
    # The first cell finds the line as the processes found it at their start.
    if fate != "absent":
        ground.line.be("pass")
        ground.heal()
    ground.line.be(fate)
    status, named = OUTCOMES[component][fate]
    refused = ground.ask()
    assert refused.status_code == status, refused.text
    body = refused.json()
    if status == 200:
        assert named <= set(body["degraded"])
        assert body["guard"]["passed"]
    else:
        assert body["code"] in named
    if status == 503:
        assert int(refused.headers["retry-after"]) > 0
    off_corpus = ground.ask_off_corpus()
    # Whatever is broken, nothing that the guard has not let through is answered.
    assert off_corpus.status_code != 200 or off_corpus.json()["abstained"]
    ground.line.be("pass")
    assert ground.heal().json()["status"] == "answered"
    assert ground.all_alive()
    for given in (refused, off_corpus):
        # What was answered while the database was away has its record, as it went out.
        assert given.status_code != 200 or ground.record_of(given) == given.json()
