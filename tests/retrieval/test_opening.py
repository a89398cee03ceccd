"""Settings of device and protocol take effect, or are refused; they are never ignored."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.errors import IndexUnavailableError, ModelUnavailableError
from retrieval.opening import open_catalog, open_embedder
from retrieval.settings import RetrievalSettings
from tests.environment import environment
from tests.faults.proxy import open_proxy


def test_a_graphics_card_that_the_runtime_cannot_use_is_refused(tmp_path: Path) -> None:
    with environment(VOUCH_EMBEDDING_DEVICE="cuda", VOUCH_DATA_DIR=str(tmp_path)):
        settings = RetrievalSettings()
    with pytest.raises(ModelUnavailableError, match="cuda"):
        open_embedder(settings)


@pytest.mark.parametrize("spoken", ["true", "false"])
async def test_grpc_is_spoken_when_it_is_set(tmp_path: Path, spoken: str) -> None:
    # Neither line answers anything that makes sense: which one is used is what is seen.
    with open_proxy(9, "absent") as http, open_proxy(http.port, "absent") as grpc:
        grpc.be("pass")
        with environment(
            VOUCH_DATA_DIR=str(tmp_path),
            QDRANT_URL=f"http://127.0.0.1:{http.port}",
            VOUCH_QDRANT_GRPC=spoken,
            VOUCH_QDRANT_GRPC_PORT=str(grpc.port),
            VOUCH_QDRANT_TIMEOUT_SECONDS="1",
        ):
            catalog = open_catalog(RetrievalSettings())
        with pytest.raises(IndexUnavailableError):
            await catalog.pointer()
        await catalog.close()
        assert grpc.connected.is_set() == (spoken == "true")
