"""``remember``, ``search_memory`` and ``forget``: what agents keep for themselves.

A memory belongs to whoever's token stored it and to a scope, and is found through both alone. It is
kept apart from the index of documents: no memory is ever evidence for an answer.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime

from pydantic import JsonValue

from context.contract_memory import (
    Forgotten,
    Memory,
    MemorySearch,
    Remembered,
    Rerank,
    Scope,
    Searched,
)
from context.errors import BadInputError, ContextError
from context.facts import (
    CREATED_AT,
    checked_scope,
    id_fact,
    metadata_facts,
    metadata_numbers,
    scope_facts,
    within,
)
from context.filters import describe_filter, parse_filter
from context.model import TextModel
from retrieval.errors import RetrievalError
from retrieval.memory import AllOf, Fact, MemoryPoint, MemoryStore, Wanted

VERSION = "1"
_RERANK_CANDIDATES = 4

Reranker = Callable[[str, Sequence[str]], Awaitable[Sequence[float]]]
"""Query and texts in, the logit of each text out; may raise ``RetrievalError``."""


class Memories:
    """The memories of all callers, each within its own.

    Args:
        store: Where they are.
        model: Gives their vectors.
        reranker: Orders what was found anew; None when there is none.
        now: Returns the present time.
    """

    def __init__(
        self,
        store: MemoryStore,
        model: TextModel,
        *,
        reranker: Reranker | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = store
        self._model = model
        self._reranker = reranker
        self._now = now

    async def remember(
        self, content: str, scope: Scope, metadata: Mapping[str, JsonValue], *, owner: str
    ) -> Remembered:
        """Keep a text.

        Raises:
            UnscopedError: No scope is given.
            BadInputError: The text is blank, or a field of metadata cannot be stored.
        """
        scope = checked_scope(scope)
        text = content.strip()
        if not text:
            raise BadInputError("there is nothing to remember")
        facts = metadata_facts(metadata)
        memory = Memory(
            memory_id=str(uuid.uuid4()),
            content=text,
            scope=scope,
            metadata=dict(metadata),
            created_at=self._now().isoformat(timespec="milliseconds"),
        )
        (vector,) = await self._model.embed_passages([text])
        point = MemoryPoint(
            memory_id=memory.memory_id,
            facts=(*scope_facts(scope, owner), id_fact(memory.memory_id), *facts),
            numbers={
                **metadata_numbers(metadata),
                CREATED_AT: (datetime.fromisoformat(memory.created_at).timestamp(),),
            },
            stored=memory.model_dump_json(exclude={"cosine", "rerank_logit"}),
            vector=vector,
        )
        await self._store.put([point])
        return Remembered(memory=memory)

    async def search(
        self,
        query: str,
        scope: Scope,
        filters: Mapping[str, JsonValue],
        *,
        owner: str,
        top_k: int,
        threshold_cosine: float,
        rerank: bool,
    ) -> MemorySearch:
        """Find memories near a query, the scope and the filter inside the index query.

        Raises:
            UnscopedError: No scope is given.
            BadInputError: The query is blank.
            BadFilterError: The filter cannot be read.
        """
        scope = checked_scope(scope)
        if not query.strip():
            raise BadInputError("the query is blank")
        where = AllOf((within(scope, owner), parse_filter(filters)))
        found = await self._nearest(
            query, where, limit=top_k * (_RERANK_CANDIDATES if rerank else 1)
        )
        near = [memory for memory in found if (memory.cosine or 0.0) >= threshold_cosine]
        ordered, reranked = await self._reranked(query, near) if rerank else (near, Rerank())
        shape = describe_filter(filters)
        hits = tuple(ordered[:top_k])
        return MemorySearch(
            memories=hits,
            rerank=reranked,
            searched=Searched(
                tool_version=VERSION,
                limit=top_k,
                threshold=threshold_cosine,
                filter_shape=shape.shape,
                filter_keys=shape.keys,
                candidates=len(found),
                hits=len(hits),
            ),
        )

    async def forget(
        self,
        scope: Scope,
        filters: Mapping[str, JsonValue],
        *,
        owner: str,
        memory_id: str = "",
    ) -> Forgotten:
        """Delete one memory, those that a filter finds, or all of a scope.

        Raises:
            UnscopedError: No scope is given.
            BadFilterError: The filter cannot be read.
        """
        scope = checked_scope(scope)
        parts: list[Wanted] = [within(scope, owner), parse_filter(filters)]
        if memory_id.strip():
            parts.append(Fact((id_fact(memory_id.strip()),)))
        return Forgotten(forgotten=await self._store.remove(where=AllOf(tuple(parts))))

    async def _nearest(self, query: str, where: Wanted, *, limit: int) -> list[Memory]:
        vector = await self._model.embed_query(query)
        return [
            Memory.model_validate(
                json.loads(point.stored) | {"cosine": max(-1.0, min(1.0, cosine))}
            )
            for point, cosine in await self._store.nearest(vector, where=where, limit=limit)
        ]

    async def _reranked(
        self, query: str, found: Sequence[Memory]
    ) -> tuple[Sequence[Memory], Rerank]:
        """Order anew; where that fails the order by cosine stays, and the result says so."""
        if self._reranker is None:
            return found, Rerank(asked=True, reason="no reranker is configured")
        try:
            logits = await self._reranker(query, [memory.content for memory in found])
        except (RetrievalError, ContextError, TimeoutError) as error:
            return found, Rerank(asked=True, reason=str(error) or "the reranker took too long")
        scored = [
            memory.model_copy(update={"rerank_logit": logit})
            for memory, logit in zip(found, logits, strict=True)
        ]
        scored.sort(key=lambda memory: -(memory.rerank_logit or 0.0))
        return scored, Rerank(asked=True, used=True)
