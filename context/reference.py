"""What texts are compared with when they are deduplicated against something known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from context.deduplicate import Embed, Reference
from context.packing import Library
from retrieval.search import SearchRequest
from retrieval.store import Filter

_DUPLICATES_SOUGHT = 1


async def listed_reference(texts: Sequence[str], embed: Embed) -> Reference:
    """Return the caller's own list as a reference, each text named by its place."""
    vectors = await embed(texts)
    names = tuple(f"reference:{at}" for at in range(len(texts)))
    return Reference(names, tuple(texts), np.stack(list(vectors)))


async def indexed_reference(
    texts: Sequence[str], library: Library, *, where: Filter, build: str
) -> Reference | None:
    """Return the visible chunks nearest to each text; None when there are none.

    Raises:
        RetrievalError: The index cannot be searched.
    """
    found: dict[str, str] = {}
    for text in texts:
        request = SearchRequest(text, _DUPLICATES_SOUGHT, where, build)
        for hit in (await library.search(request)).hits:
            found[hit.chunk.chunk_id] = hit.chunk.text
    if not found:
        return None
    vectors = await library.embed_passages(list(found.values()))
    return Reference(tuple(found), tuple(found.values()), np.stack(list(vectors)))
