"""The typed client of the tool server: one per API process, for its whole life.

Two channels: the four tools, which branches of asks are bound to, and the service tools, which only
the API itself uses.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import TracebackType
from typing import Self

from pydantic import JsonValue

from knowledge.client_calls import (
    COMPARE_CONTENT,
    EMBED_TEXTS,
    FIT_EVIDENCE,
    FORGET_ASKS,
    MEASURE_CHUNKS,
    READ_AUDIT,
    READ_CALLS,
    SEARCH_KB,
    TRACE_SEARCH,
)
from knowledge.client_channel import ToolChannel
from knowledge.client_lanes import LaneOpener, Lanes, open_lanes
from knowledge.client_tools import BoundTools
from knowledge.contracts import (
    AuditPage,
    ContentChange,
    Embeddings,
    IndexInfo,
    Measurement,
    SearchTrace,
    StageOrder,
)
from knowledge.packing import FittedPassages
from knowledge.pin import read_pin
from knowledge.tools import KnowledgeTools
from service.tokens import Claims, Scope, TokenSigner

_CALLS_AT_ONCE = 64


class KnowledgeClient:
    """Signs, calls, checks and maps errors; safe to share between tasks.

    It can be entered while the tool server is away and heals when the server comes back.

    Args:
        url: Address of the tool server, with or without ``/mcp``.
        signer: Holds the key shared with the tool server.
        timeout_seconds: Longest time one call may take.
        token_seconds: How long a signed token is valid when its claims do not say.
        opener: Opens another kind of connection, for tests; None means the network.
        clock: Returns Unix time in seconds.
    """

    def __init__(
        self,
        url: str,
        signer: TokenSigner,
        *,
        timeout_seconds: float = 10.0,
        token_seconds: float = 300.0,
        opener: LaneOpener | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._signer = signer
        self._token_seconds = token_seconds
        self._clock = clock
        self._index: IndexInfo | None = None
        self._lanes = Lanes(opener or open_lanes(), limit=_CALLS_AT_ONCE)
        root = url.rstrip("/").removesuffix("/mcp")
        self._tools = ToolChannel(
            f"{root}/mcp",
            lanes=self._lanes,
            timeout_seconds=timeout_seconds,
            pin=read_pin(),
        )
        self._service = ToolChannel(
            f"{root}/mcp/service",
            lanes=self._lanes,
            timeout_seconds=timeout_seconds,
            pin=None,
        )

    async def __aenter__(self) -> Self:
        """Return the client; nothing is sent yet."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close every connection."""
        await self._lanes.close()

    def bind(self, claims: Claims, *, source: str = "", top_k: int | None = None) -> KnowledgeTools:
        """Return the four tools for one branch of one ask.

        Args:
            claims: Who calls, for which ask and with which labels. The token can do nothing but
                search, whatever scopes the claims name.
            source: Binds every call to one source, whatever arguments the caller gives.
            top_k: Binds every search to this many hits.
        """
        token = self._sign(replace(claims, source=source or claims.source), "search")
        return BoundTools(
            self._tools, token=token, source=source, top_k=top_k, saw_index=self._remember
        )

    async def search(
        self, query: str, claims: Claims, *, top_k: int, source: str = ""
    ) -> SearchTrace:
        """Call ``search_kb`` as the guard does; return the order after every stage as well.

        Args:
            query: Text to search for.
            claims: Of the guard's branch; the tool server gives no other branch the order.
            top_k: Hits wanted, 1 to 50.
            source: Only this source; empty means every source.
        """
        token = self._sign(replace(claims, source=source or claims.source), "search")
        arguments: dict[str, JsonValue] = {"query": query, "top_k": top_k, "source": source}
        result, beside = await self._tools.exchange(SEARCH_KB, arguments, token=token)
        self._remember(result.index)
        return SearchTrace(result=result, stages=beside.stages or StageOrder())

    def sign(self, claims: Claims) -> str:
        """Return the search token of these claims, for a gateway that calls the tools itself."""
        return self._sign(claims, "search")

    async def read_audit(self, ask_id: str) -> AuditPage:
        """Return every finished tool call of an ask, in order."""
        token = self._sign(Claims(ask_id=ask_id, branch="service", scopes=()), "service")
        arguments: dict[str, JsonValue] = {"ask_id": ask_id}
        return await self._service.call(READ_AUDIT, arguments, token=token)

    async def read_calls(self, caller: str, start: datetime, end: datetime) -> AuditPage:
        """Return the finished tool calls of a fixed token between two times, in order.

        Args:
            caller: Name of the token.
            start: Aware; the first moment that counts.
            end: Aware; the last moment that counts.
        """
        token = self._sign(Claims(ask_id="", branch="service", scopes=()), "service")
        arguments: dict[str, JsonValue] = {
            "caller": caller,
            "start": start.isoformat(),
            "end": end.isoformat(),
        }
        return await self._service.call(READ_CALLS, arguments, token=token)

    async def forget(self, ask_ids: Sequence[str], caller: str = "") -> None:
        """Delete the recorded tool calls of asks, and of one caller when it is named.

        Args:
            ask_ids: At most 200.
            caller: As ``key-ID``; empty for nobody.
        """
        token = self._sign(Claims(ask_id="", branch="service", scopes=()), "service")
        arguments: dict[str, JsonValue] = {"ask_ids": list(ask_ids), "caller": caller}
        await self._service.call(FORGET_ASKS, arguments, token=token)

    async def measure(self, query: str, chunk_ids: Sequence[str], claims: Claims) -> Measurement:
        """Return the cosine of each visible chunk against a query."""
        arguments: dict[str, JsonValue] = {"query": query, "chunk_ids": list(chunk_ids)}
        token = self._sign(claims, "service")
        result = await self._service.call(MEASURE_CHUNKS, arguments, token=token)
        self._remember(result.index)
        return result

    async def fit_evidence(
        self,
        query: str,
        chunk_ids: Sequence[str],
        claims: Claims,
        *,
        known_ids: Sequence[str] = (),
        share: float = 1.0,
        budget_tokens: int = 0,
    ) -> FittedPassages:
        """Return what of an ask's passages fits its reader, repetitions left out.

        Args:
            query: What the passages are to answer.
            chunk_ids: The passages, best first.
            claims: Labels and build of the caller.
            known_ids: What the reader has already.
            share: Share of the passages' tokens that may stay, in (0, 1].
            budget_tokens: Tokens that may stay, by the embedding model; 0: as the share says.
        """
        arguments: dict[str, JsonValue] = {
            "query": query,
            "chunk_ids": list(chunk_ids),
            "known_ids": list(known_ids),
            "share": share,
            "budget_tokens": budget_tokens,
        }
        token = self._sign(replace(claims, branch="service"), "service")
        return await self._service.call(FIT_EVIDENCE, arguments, token=token)

    async def trace(
        self,
        query: str,
        claims: Claims,
        *,
        top_k: int = 4,
        profile: str = "",
        filters: Mapping[str, JsonValue] | None = None,
        explain: str = "",
    ) -> SearchTrace:
        """Search like ``search_kb``, and return the order after every stage as well.

        Args:
            query: Text to search for.
            claims: Labels and build of the caller.
            top_k: Hits wanted, 1 to 50.
            profile: Retrieval profile; empty means the build's own.
            filters: Field name to a value, a list of values, or ``{"gte": ..., "lte": ...}``.
            explain: Id of a chunk whose place, or absence, is to be explained; empty: none.
        """
        arguments: dict[str, JsonValue] = {
            "query": query,
            "top_k": top_k,
            "profile": profile,
            "filters": dict(filters or {}),
            "explain": explain,
        }
        token = self._sign(claims, "service")
        trace = await self._service.call(TRACE_SEARCH, arguments, token=token)
        self._remember(trace.result.index)
        return trace

    async def compare(self, sketch: Sequence[int]) -> ContentChange:
        """Return how far the build in force is from the content of another build.

        Args:
            sketch: Of the other build's chunk ids, as its manifest has it.
        """
        token = self._sign(Claims(ask_id="", branch="service", scopes=()), "service")
        return await self._service.call(COMPARE_CONTENT, {"sketch": list(sketch)}, token=token)

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return unit vectors of texts by the index's own model."""
        token = self._sign(Claims(ask_id="", branch="service", scopes=()), "service")
        return await self._service.call(EMBED_TEXTS, {"texts": list(texts)}, token=token)

    async def ping(self) -> None:
        """Return when the tool server answers and its tools are the pinned ones.

        Raises:
            KnowledgeError: It does not, or they are not.
        """
        await self._tools.verify(
            token=self._sign(Claims(ask_id="", branch="service", scopes=()), "search")
        )

    def index(self) -> IndexInfo | None:
        """Return the index that answered last; None before the first answer."""
        return self._index

    def _remember(self, index: IndexInfo) -> None:
        self._index = index

    def _sign(self, claims: Claims, scope: Scope) -> str:
        expires_at = claims.expires_at or self._clock() + self._token_seconds
        return self._signer.sign(replace(claims, scopes=(scope,), expires_at=expires_at))
