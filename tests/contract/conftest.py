"""Every store behind the port, each empty and made the way its process makes it."""

from __future__ import annotations

import os
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from qdrant_client import AsyncQdrantClient

from retrieval.store import Store
from retrieval.store_edge import EdgeStore
from retrieval.store_qdrant import QdrantStore
from tests.retrieval.corpus import DIMENSION, LATE_DIMENSION

ADAPTERS = ("edge", "memory", "server")
Maker = Callable[[str], Awaitable[Store]]


@pytest.fixture
async def make_store(tmp_path: Path) -> AsyncIterator[Maker]:
    """Return a function from an adapter's name to an empty store of it."""
    opened: list[Store] = []
    clients: list[AsyncQdrantClient] = []

    async def make(adapter: str) -> Store:
        if adapter == "edge":
            store: Store = EdgeStore.create(
                tmp_path / uuid.uuid4().hex,
                DIMENSION,
                late_dimension=LATE_DIMENSION,
                has_parts=True,
            )
        else:
            client, indexed = _client(adapter)
            clients.append(client)
            name = f"test-{uuid.uuid4().hex}"
            store = await QdrantStore.create(
                client,
                name,
                DIMENSION,
                late_dimension=LATE_DIMENSION,
                has_parts=True,
                indexed=indexed,
            )
        opened.append(store)
        return store

    yield make
    for store in opened:
        await store.close()
    for client in clients:
        for found in (await client.get_collections()).collections:
            if found.name.startswith("test-"):
                await client.delete_collection(found.name)
        await client.close()


def _client(adapter: str) -> tuple[AsyncQdrantClient, bool]:
    if adapter == "memory":
        return AsyncQdrantClient(":memory:"), False
    url = os.environ.get("QDRANT_TEST_URL", "")
    if not url:
        pytest.skip("no Qdrant server: QDRANT_TEST_URL is not set")
    return AsyncQdrantClient(url=url), True
