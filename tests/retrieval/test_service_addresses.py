"""Addresses of model services, from the environment to what is asked, against the real service."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import uvicorn
import yaml

from ingestion.run import ingest
from ingestion.sources import source_from
from ingestion.worker_settings import WorkerSettings
from mcp_server.settings import McpSettings
from retrieval.embedding_service import create_app
from retrieval.embedding_settings import EmbeddingServiceSettings
from retrieval.errors import ModelUnavailableError, RerankError
from retrieval.late import FastembedLateEmbedder
from retrieval.opening import open_embedder, open_engine, open_profile
from retrieval.opening_models import open_late_embedder, open_reranker_of, open_sparse_encoder
from retrieval.search import SearchRequest
from retrieval.settings import RetrievalSettings
from retrieval.sparse import Bm25Encoder
from retrieval.sparse_models import FastembedSparseEncoder
from tests.environment import environment
from tests.retrieval.tiny_models import (
    write_cross_encoder,
    write_sparse_model,
    write_token_embedder,
)

DEAD = "http://127.0.0.1:9"
KINDS = ("DENSE", "SPARSE", "LATE", "RERANKER")
PASSAGES = ("Water boils at a hundred degrees.", "Ice melts at zero degrees.")


class Served:
    """The service on a port of its own, with tiny models that no other folder has."""

    def __init__(self, folder: Path, models_dir: Path) -> None:
        self.folder = folder
        self.models = {
            "SPARSE": write_sparse_model(folder / "sparse", models_dir),
            "LATE": write_token_embedder(folder / "late", models_dir, 16),
            "RERANKER": write_cross_encoder(folder / "cross", models_dir),
        }
        self.profiles = self._profiles(
            folder / "there.yaml", {k: str(v) for k, v in self.models.items()}
        )
        # What a host without models has: names alone.
        self.remote = self._profiles(folder / "here.yaml", dict.fromkeys(self.models, "not/here"))
        settings = EmbeddingServiceSettings(
            data_dir=folder / "service", profile="parts", profiles_file=self.profiles
        )
        self._server = uvicorn.Server(
            uvicorn.Config(create_app(settings), host="127.0.0.1", port=0, log_config=None)
        )
        self._thread = threading.Thread(target=self._server.run)

    def _profiles(self, path: Path, models: dict[str, str]) -> Path:
        ingestion = {
            "sparse": {"model": models["SPARSE"]},
            "late_interaction": {"model": models["LATE"], "dimension": 16},
        }
        search = {"reranker": {"model": models["RERANKER"]}, "late_weight": 0.2}
        profile = {"summary": "Parts.", "ingestion": ingestion, "search": search}
        path.write_text(yaml.safe_dump({"default": {"summary": "Plain."}, "parts": profile}))
        return path

    def start(self) -> str:
        self._thread.start()
        while not self._server.started:
            assert self._thread.is_alive()
            threading.Event().wait(0.02)
        port = self._server.servers[0].sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{port}"

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(20)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Served:
    folder = tmp_path_factory.mktemp("served")
    return Served(folder, folder / "models")


@pytest.fixture(scope="module")
def url(served: Served) -> Iterator[str]:
    yield served.start()
    served.stop()


def read(
    kind: type[RetrievalSettings], served: Served, tmp_path: Path, **addresses: str
) -> RetrievalSettings:
    with environment(
        VOUCH_DATA_DIR=str(tmp_path),
        VOUCH_PROFILE="parts",
        VOUCH_PROFILES_FILE=str(served.remote),
        VOUCH_EMBEDDING_TIMEOUT_SECONDS="60",
        **addresses,
    ):
        return kind()


async def ask_each(settings: RetrievalSettings) -> dict[str, object]:
    """Return what each kind of model gives, or the error it gives instead."""
    wanted = open_profile(settings).search.reranker
    assert wanted is not None
    # Loading the model there may take longer on a busy machine than a search would wait.
    reranker = open_reranker_of(settings, wanted.model_copy(update={"timeout_seconds": 60.0}))
    found = await asyncio.gather(
        asyncio.to_thread(lambda: open_embedder(settings).embed_query("water")),
        asyncio.to_thread(lambda: open_sparse_encoder(settings).embed_query("water")),
        asyncio.to_thread(_late, settings),
        reranker.rerank("boiling water", PASSAGES),
        return_exceptions=True,
    )
    await reranker.close()
    for one in found:
        if isinstance(one, Exception):
            assert isinstance(one, ModelUnavailableError | RerankError)
    return dict(zip(KINDS, found, strict=True))


def _late(settings: RetrievalSettings) -> object:
    embedder = open_late_embedder(settings)
    assert embedder is not None
    return embedder.embed_query("water")


@pytest.mark.parametrize("settings", [McpSettings, WorkerSettings])
@pytest.mark.parametrize("kind", KINDS)
async def test_each_address_overrides_the_common_one_for_its_kind_alone(
    served: Served, url: str, tmp_path: Path, settings: type[RetrievalSettings], kind: str
) -> None:
    addresses = {"VOUCH_EMBEDDING_URL": DEAD, f"VOUCH_{kind}_URL": url}
    found = await ask_each(read(settings, served, tmp_path, **addresses))
    failed = {name: str(one) for name, one in found.items() if isinstance(one, Exception)}
    assert set(failed) == set(KINDS) - {kind}
    assert all(DEAD in told for told in failed.values())


async def test_one_address_serves_every_kind_with_the_models_of_the_service(
    served: Served, url: str, tmp_path: Path
) -> None:
    found = await ask_each(read(RetrievalSettings, served, tmp_path, VOUCH_EMBEDDING_URL=url))
    sparse = FastembedSparseEncoder(str(served.models["SPARSE"]))
    late = FastembedLateEmbedder(str(served.models["LATE"]), 16)
    assert found["SPARSE"] == sparse.embed_query("water")
    assert np.allclose(np.asarray(found["LATE"]), late.embed_query("water"), atol=1e-6)
    assert np.asarray(found["DENSE"]).shape == (384,)
    assert np.asarray(found["RERANKER"]).shape == (len(PASSAGES),)


async def test_a_worker_and_a_tool_server_without_models_index_and_search(
    served: Served, url: str, tmp_path: Path
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    for place, passage in enumerate(PASSAGES):
        (docs / f"{place}.md").write_text(f"# Page {place}\n\n{passage}\n")
    worker = read(WorkerSettings, served, tmp_path / "data", VOUCH_EMBEDDING_URL=url)
    assert isinstance(worker, WorkerSettings)
    report = await ingest([source_from(str(docs))], worker, lambda _: None)
    assert report.chunks == len(PASSAGES)
    reading = read(McpSettings, served, tmp_path / "data", VOUCH_EMBEDDING_URL=url)
    engine = await open_engine(reading)
    outcome = await engine.search(SearchRequest("When does water boil?", top_k=2))
    await engine.close()
    assert outcome.degraded == ()
    assert {hit.chunk.text for hit in outcome.hits} == set(PASSAGES)
    assert all(hit.rerank_logit is not None for hit in outcome.hits)


def test_bm25_is_a_formula_and_asks_no_service(tmp_path: Path) -> None:
    with environment(VOUCH_DATA_DIR=str(tmp_path), VOUCH_SPARSE_URL=DEAD):
        assert isinstance(open_sparse_encoder(RetrievalSettings()), Bm25Encoder)


def test_the_address_of_reranking_wins_over_the_profile_and_the_common_one_does_not() -> None:
    settings = RetrievalSettings(embedding_url="http://all")
    wanted = open_profile(RetrievalSettings(profile="quality")).search.reranker
    assert wanted is not None
    named = wanted.model_copy(update={"model": "http://profile/rerank"})
    own = settings.model_copy(update={"reranker_url": "http://own/rerank"})
    shown = [
        vars(open_reranker_of(settings, named))["_url"],
        vars(open_reranker_of(settings, wanted))["_url"],
        vars(open_reranker_of(own, named))["_url"],
    ]
    assert shown == ["http://profile/rerank", "http://all/rerank", "http://own/rerank"]
