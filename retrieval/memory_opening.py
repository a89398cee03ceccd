"""The store of memories, made from settings."""

from __future__ import annotations

import hashlib

from retrieval.memory import MemoryStore
from retrieval.settings import RetrievalSettings
from retrieval.store_memory_edge import EdgeMemoryStore

_NAME_CHARACTERS = 12


def open_memories(settings: RetrievalSettings, *, model_digest: str, dimension: int) -> MemoryStore:
    """Open the memories of one embedding model: vectors of two models cannot be compared.

    Args:
        settings: A Qdrant server when one is set, else a folder of the data folder.
        model_digest: Of the model whose vectors are stored.
        dimension: Length of its vectors.

    Raises:
        IndexUnavailableError: The folder cannot be opened; another process may own it.
    """
    model = hashlib.sha256(model_digest.encode()).hexdigest()[:_NAME_CHARACTERS]
    if not settings.qdrant_url:
        return EdgeMemoryStore(settings.data_dir / "memory" / model, dimension)
    # Costs two seconds and 130 MB, so it is loaded only where a server is configured.
    from qdrant_client import AsyncQdrantClient  # noqa: PLC0415

    from retrieval.store_memory_qdrant import QdrantMemoryStore  # noqa: PLC0415

    # One dash: what has two after the name of the index belongs to its builds and their cleaning.
    client = AsyncQdrantClient(
        url=settings.qdrant_url,
        api_key=settings.qdrant_api_key.get_secret_value() or None,
        timeout=settings.qdrant_timeout_seconds,
        check_compatibility=False,
    )
    return QdrantMemoryStore(client, f"{settings.collection}-memory-{model}", dimension)
